// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/memory_kinds.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "commands/record/shared_recording.hpp"
#include "reading/trace/chunk.hpp"

namespace gr::tool {

namespace {

using trace::MemoryKind;
using trace::StackNumber;

bool is_recorders(std::string_view name) {
    return name.find(SharedRecording::kName) != std::string_view::npos ||
           name.find("/libgranary-record.so") != std::string_view::npos;
}

// Memory that has a name and no file on a disk.
bool is_memory_file(std::string_view name) {
    constexpr std::array<std::string_view, 5> kBegins = {"/dev/shm/", "/SYSV", "/dev/zero",
                                                         "/memfd:", "/anon_hugepage"};
    return std::ranges::any_of(kBegins, [&](std::string_view begin) { return name.starts_with(begin); });
}

bool is_private(const SmapsEntry &mapping) {
    return mapping.name.empty() || mapping.name == "[heap]" || mapping.name.starts_with("[anon");
}

MemoryKind kind_of(const OwnRanges::Owner &owner) {
    switch (owner.mapper) {
        case OwnRanges::Mapper::allocator:
            return MemoryKind::heap;
        case OwnRanges::Mapper::recorder:
            return MemoryKind::recorder;
        case OwnRanges::Mapper::earlier:
            return MemoryKind::earlier;
        case OwnRanges::Mapper::program:
            break;
    }
    return MemoryKind::own;
}

bool has_blocks(std::uint64_t begin, std::uint64_t end, const AddressRanges &blocks) {
    auto at = blocks.all().upper_bound(begin);
    if (at != blocks.all().begin() && std::prev(at)->second > begin) return true;
    return at != blocks.all().end() && at->first < end;
}

}  // namespace

bool MemoryKinds::look(trace::Time time) {
    time_ = time;
    page_tables_ = page_table_bytes_of(process_);
    mappings_ = mappings_of(process_);
    return has_looked();
}

trace::MemoryLook MemoryKinds::tell(const OwnRanges &ranges, const ProcessEvents &events) {
    new_names_.clear();
    parts_.clear();
    modules_.clear();
    ranges_ = &ranges;
    for (const SmapsEntry &mapping : mappings_) {
        if (mapping.is_executable && mapping.name.starts_with('/')) modules_.insert(mapping.name);
    }
    before_ = {};
    for (const SmapsEntry &mapping : mappings_) {
        if (mapping.resident != 0) take(mapping, events);
        before_ = mapping;
    }
    mappings_.clear();
    trace::MemoryLook look{time_, page_tables_, {}};
    for (const auto &[key, part] : parts_) look.parts.push_back(part);
    return look;
}

StackNumber MemoryKinds::stack_at(std::uint64_t begin, std::uint64_t end) const {
    StackNumber stack = StackNumber::none;
    ranges_->for_each_within(begin, end, [&](std::uint64_t, std::uint64_t, const OwnRanges::Owner &owner) {
        if (stack == StackNumber::none) stack = owner.stack;
    });
    return stack;
}

void MemoryKinds::take(const SmapsEntry &mapping, const ProcessEvents &events) {
    const std::uint64_t bytes = mapping.end - mapping.begin;
    if (is_recorders(mapping.name)) {
        add(MemoryKind::recorder, mapping.name, StackNumber::none, bytes, mapping.resident);
    } else if (mapping.name == "[stack]") {
        add(MemoryKind::stack, mapping.name, StackNumber::none, bytes, mapping.resident);
    } else if (is_private(mapping)) {
        take_private(mapping, events);
    } else {
        take_file(mapping);
    }
}

void MemoryKinds::take_file(const SmapsEntry &mapping) {
    const std::uint64_t bytes = mapping.end - mapping.begin;
    const StackNumber stack = stack_at(mapping.begin, mapping.end);
    if (modules_.contains(mapping.name)) {
        const std::uint64_t data = std::min(mapping.anonymous, mapping.resident);
        if (data != 0) add(MemoryKind::data, mapping.name, StackNumber::none, bytes, data);
        if (data != mapping.resident)
            add(MemoryKind::code, mapping.name, StackNumber::none, bytes, mapping.resident - data);
    } else if (mapping.name.starts_with('[')) {  // the kernel's, as [vdso]
        add(MemoryKind::code, mapping.name, StackNumber::none, bytes, mapping.resident);
    } else {
        add(is_memory_file(mapping.name) ? MemoryKind::shared : MemoryKind::file, mapping.name, stack, bytes,
            mapping.resident);
    }
}

MemoryKind MemoryKinds::kind_of_rest(const SmapsEntry &mapping, std::uint64_t begin, std::uint64_t end, MemoryKind rest,
                                     const ProcessEvents &events) const {
    if (mapping.name == "[heap]") return MemoryKind::heap;
    // Which steps of addresses have blocks is known: the first and the last may reach into what lies beside this.
    constexpr std::uint64_t kStep = AddressRanges::kStep;
    const bool is_long = end - begin > 2 * kStep;
    const std::uint64_t from = is_long ? (begin + kStep - 1) / kStep * kStep : begin;
    const std::uint64_t to = is_long ? end / kStep * kStep : end;
    return has_blocks(from, to, events.addresses) ? MemoryKind::heap : rest;
}

// The variables of a library that begin as zeros lie behind those of its file, and a thread's stack ends behind its
// description, to which its thread pointer leads.
std::vector<MemoryKinds::Piece> MemoryKinds::pieces_of(const SmapsEntry &mapping, const ProcessEvents &events) const {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    std::vector<Piece> pieces;
    const auto add_rest = [&](std::uint64_t begin, std::uint64_t end, MemoryKind rest) {
        for (auto at = events.thread_stacks.lower_bound(begin); at != events.thread_stacks.end(); ++at) {
            const auto [pointer, place] = *at;
            if (pointer >= end) break;
            if (place < begin || place >= pointer) continue;
            const std::uint64_t top = std::min(end, (pointer + kThreadBytes + page - 1) / page * page);
            pieces.push_back({begin, top, MemoryKind::stack, StackNumber::none, false});
            begin = top;
        }
        if (begin < end)
            pieces.push_back({begin, end, kind_of_rest(mapping, begin, end, rest, events), StackNumber::none, false});
    };
    std::uint64_t at = mapping.begin;
    if (mapping.name.empty() && before_.end == mapping.begin && before_.is_writable &&
        (modules_.contains(before_.name) || is_recorders(before_.name))) {
        std::uint64_t end = mapping.end;
        ranges_->for_each_within(
            at, end, [&](std::uint64_t begin, std::uint64_t, const OwnRanges::Owner &) { end = std::min(end, begin); });
        if (end > at)
            pieces.push_back({at, end, is_recorders(before_.name) ? MemoryKind::recorder : MemoryKind::data, {}, true});
        at = end;
    }
    ranges_->for_each_within(at, mapping.end,
                             [&](std::uint64_t begin, std::uint64_t end, const OwnRanges::Owner &owner) {
                                 if (at < begin) add_rest(at, begin, MemoryKind::not_known);
                                 const MemoryKind kind = kind_of(owner);
                                 if (kind == MemoryKind::earlier) {
                                     add_rest(begin, end, kind);
                                 } else {
                                     pieces.push_back({begin, end, kind, owner.stack, false});
                                 }
                                 at = end;
                             });
    if (at < mapping.end) add_rest(at, mapping.end, MemoryKind::not_known);
    return pieces;
}

void MemoryKinds::take_private(const SmapsEntry &mapping, const ProcessEvents &events) {
    share_out(mapping, pieces_of(mapping, events));
}

// What the pages of the pieces do not tell goes to the largest piece.
void MemoryKinds::share_out(const SmapsEntry &mapping, const std::vector<Piece> &pieces) {
    std::vector<std::uint64_t> resident(pieces.size());
    std::uint64_t left = mapping.resident;
    if (pieces.size() > 1) {
        const PresentPages pages(process_);
        for (std::size_t i = 0; i < pieces.size(); ++i) {
            resident[i] = std::min(left, pages.bytes_in(pieces[i].begin, pieces[i].end));
            left -= resident[i];
        }
    }
    const auto largest =
        std::ranges::max_element(pieces, {}, [](const Piece &piece) { return piece.end - piece.begin; });
    resident[static_cast<std::size_t>(largest - pieces.begin())] += left;
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        if (resident[i] == 0) continue;
        add(pieces[i].kind, pieces[i].is_of_file ? before_.name : mapping.name, pieces[i].stack,
            pieces[i].end - pieces[i].begin, resident[i]);
    }
}

void MemoryKinds::add(MemoryKind kind, const std::string &name, StackNumber stack, std::uint64_t bytes,
                      std::uint64_t resident) {
    trace::MemoryPart &part = parts_[{kind, number_of_name(name), stack}];
    part.kind = kind;
    part.name = number_of_name(name);
    part.stack = stack;
    ++part.mappings;
    part.bytes += bytes;
    part.resident += resident;
}

std::uint32_t MemoryKinds::number_of_name(const std::string &name) {
    if (name.empty()) return 0;
    const auto known = names_.find(name);
    if (known != names_.end()) return known->second;
    if (names_.size() >= kMostNames) return 0;
    constexpr std::size_t kMostLetters = trace::kMostNameBytes / 3;  // each may become three where it is no UTF-8
    new_names_.push_back(name.substr(0, kMostLetters));
    const auto number = static_cast<std::uint32_t>(names_.size() + 1);
    names_.emplace(name, number);
    return number;
}

}  // namespace gr::tool
