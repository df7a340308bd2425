// SPDX-License-Identifier: Apache-2.0 OR MIT
// Reads /proc/self/maps, or the calling thread's own: the former is empty once the first thread has ended.
#include "platform/world/mappings.hpp"

#include <sys/syscall.h>

#include <algorithm>
#include <iterator>

#include "platform/syscall.hpp"
#include "platform/world/hexadecimal.hpp"
#include "platform/world/listing.hpp"
#include "platform/world/mapping_query.hpp"

namespace gr::platform {

namespace {

constexpr char kOfProcess[] = "/proc/self/maps";
constexpr char kOfThread[] = "/proc/thread-self/maps";

}  // namespace

Mappings::Mappings(const char *list) : fd_(open_listing(list)), is_whole_(opened()) {}

Mappings::~Mappings() {
    if (opened()) system_call(SYS_close, fd_);
}

bool Mappings::peek(char *out) {
    if (at_ == end_) {
        const long bytes = opened() ? system_call(SYS_read, fd_, &text_[0], sizeof text_) : 0;
        is_whole_ = is_whole_ && bytes >= 0;
        at_ = 0;
        end_ = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
        if (end_ == 0) return false;
    }
    *out = text_[at_];
    return true;
}

bool Mappings::take(char *out) {
    if (!peek(out)) return false;
    ++at_;
    return true;
}

bool Mappings::take_address(char end, const char **out) {
    std::uintptr_t address = 0;
    for (char c = 0; take(&c);) {
        if (c == end) {
            *out = reinterpret_cast<const char *>(address);
            return true;
        }
        if (hexadecimal_digit(c) == kNoDigit) return false;
        address = address * 16 + static_cast<std::uintptr_t>(hexadecimal_digit(c));
    }
    return false;
}

// Skips so many fields, and the spaces behind each.
void Mappings::skip(unsigned fields) {
    for (char c = 0; fields != 0; --fields) {
        while (peek(&c) && c != ' ' && c != '\n') ++at_;
        while (peek(&c) && c == ' ') ++at_;
    }
}

// "BEGIN-END rwxp OFFSET DEVICE INODE NAME"
bool Mappings::next(Mapping *out) {
    constexpr unsigned kFieldsToName = 4;
    char rights[4] = {};
    if (!take_address('-', &out->begin) || !take_address(' ', &out->end)) return false;
    for (char &right : rights) {
        if (!take(&right)) return false;
    }
    out->readable = rights[0] == 'r';
    out->writable = rights[1] == 'w';
    out->is_private = rights[3] == 'p';
    skip(kFieldsToName);
    char c = 0;
    out->is_named = peek(&c) && c != '\n';
    while (take(&c) && c != '\n') {
    }
    return true;
}

bool MappingTable::read() { return read(kOfProcess) || read(kOfThread); }

bool MappingTable::read(const char *list) {
    Mappings all(list);
    mappings_.clear();
    for (Mapping mapping; all.next(&mapping);) {
        if (!mappings_.is_empty() && mappings_.last().goes_on_in(mapping)) {
            mappings_.last().end = mapping.end;
            mappings_.last().is_named = mappings_.last().is_named || mapping.is_named;
        } else if (!mappings_.add(mapping)) {
            return false;
        }
    }
    return all.is_whole() && !mappings_.is_empty();
}

bool MappingTable::begin_asking() {
    end_asking();
    fd_ = open_listing(kOfProcess);
    Mapping here;
    if (asks() && ask(this, &here) && here.contains(this)) return true;
    end_asking();
    return read();
}

void MappingTable::end_asking() {
    if (asks()) system_call(SYS_close, fd_);
    fd_ = kNone;
    last_ = {};
}

// false: the kernel does not answer. An empty mapping: nothing is mapped there.
bool MappingTable::ask(const void *p, Mapping *out) const {
    *out = {};
    MappingQuery query;
    const long answer = query.run(fd_, p);
    if (answer == MappingQuery::kNothingThere) return true;
    if (answer != 0) return false;
    *out = {.begin = reinterpret_cast<const char *>(query.begin),
            .end = reinterpret_cast<const char *>(query.end),
            .readable = (query.rights & MappingQuery::kReadable) != 0,
            .writable = (query.rights & MappingQuery::kWritable) != 0,
            .is_private = (query.rights & MappingQuery::kShared) == 0};
    return true;
}

// Remembers the mapping, because the next question is often about the same one: a thread's stack, then its record.
Mapping MappingTable::asked(const void *p) const {
    if (last_.contains(p)) return last_;
    Mapping found;
    if (!ask(p, &found)) return {};
    for (Mapping beside; ask(found.end, &beside) && found.goes_on_in(beside);) found.end = beside.end;
    for (Mapping beside; ask(found.begin - 1, &beside) && beside.goes_on_in(found);) found.begin = beside.begin;
    last_ = found;
    return found;
}

Mapping MappingTable::known(const void *p) const {
    const std::span<const Mapping> all = mappings_.all();
    const auto at = std::ranges::upper_bound(all, static_cast<const char *>(p), {}, &Mapping::begin);
    if (at == all.begin() || !std::prev(at)->contains(p)) return {};
    return *std::prev(at);
}

}  // namespace gr::platform
