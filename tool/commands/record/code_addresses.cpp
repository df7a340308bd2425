// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/code_addresses.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gr::tool {

namespace {

struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

// Both show the same bytes of a file wherever both lie.
bool is_same_file(const trace::Module &one, const trace::Module &other) {
    return one.path == other.path && one.build_id == other.build_id &&
           one.begin - one.offset == other.begin - other.offset;
}

// The parts of a module that none of the others has, where all are sorted by begin.
std::vector<Range> without(const trace::Module &module, const std::vector<trace::Module> &others) {
    std::vector<Range> rest;
    std::uint64_t at = module.begin;
    auto other = std::ranges::lower_bound(others, module.begin, {}, &trace::Module::end);
    for (; other != others.end() && other->begin < module.end; ++other) {
        if (!is_same_file(module, *other)) continue;
        if (at < other->begin) rest.push_back({at, other->begin});
        at = std::max(at, other->end);
    }
    if (at < module.end) rest.push_back({at, module.end});
    return rest;
}

trace::Module part_of(const trace::Module &module, Range range) {
    trace::Module part = module;
    part.offset += range.begin - module.begin;
    part.begin = range.begin;
    part.end = range.end;
    return part;
}

}  // namespace

std::vector<trace::Module> CodeAddresses::update(std::vector<trace::Module> mapped) {
    std::ranges::sort(mapped, {}, &trace::Module::begin);
    for (const trace::Module &before : mapped_) {
        for (const Range &range : without(before, mapped)) unload(range.begin, range.end);
    }
    std::vector<trace::Module> loaded;
    for (const trace::Module &now : mapped) {
        for (const Range &range : without(now, mapped_)) add_in_trace(part_of(now, range), &loaded);
    }
    mapped_ = std::move(mapped);
    known_.clear();
    for (const trace::Module &module : mapped_) add_in_trace(module, &known_);
    std::ranges::sort(known_, {}, &trace::Module::begin);
    return loaded;
}

std::uint64_t CodeAddresses::in_trace_of_moved(std::uint64_t address) const {
    const std::uint64_t call = address - 1;
    const auto behind = moved_.upper_bound(call);
    if (behind == moved_.begin() || call >= std::prev(behind)->second.end) return address;
    return address + std::prev(behind)->second.by;
}

bool CodeAddresses::is_known(std::uint64_t address) const {
    const auto behind = std::ranges::lower_bound(known_, address, {}, &trace::Module::begin);
    return behind != known_.begin() && address <= std::prev(behind)->end;
}

bool CodeAddresses::begins_as(const CodeAddresses &other) const {
    return !mapped_.empty() && !other.mapped_.empty() && mapped_.front().begin == other.mapped_.front().begin &&
           mapped_.front().path == other.mapped_.front().path;
}

// Whatever is loaded there from now on has addresses of its own.
void CodeAddresses::unload(std::uint64_t begin, std::uint64_t end) {
    cut(begin);
    cut(end);
    moved_.erase(moved_.lower_bound(begin), moved_.lower_bound(end));
    moved_.emplace(begin, Moved{end, next_ - begin});
    next_ += end - begin;
    ++unloads_;
}

void CodeAddresses::cut(std::uint64_t address) {
    const auto behind = moved_.lower_bound(address);
    if (behind == moved_.begin()) return;
    Moved &before = std::prev(behind)->second;
    if (before.end <= address) return;
    moved_.emplace_hint(behind, address, before);
    before.end = address;
}

void CodeAddresses::add_in_trace(const trace::Module &module, std::vector<trace::Module> *all) const {
    std::uint64_t at = module.begin;
    const auto add = [&](std::uint64_t end, std::uint64_t by) {
        if (at >= end) return;
        trace::Module part = part_of(module, {at, end});
        part.begin += by;
        part.end += by;
        all->push_back(std::move(part));
        at = end;
    };
    auto moved = moved_.upper_bound(module.begin);
    if (moved != moved_.begin()) --moved;
    for (; moved != moved_.end() && moved->first < module.end; ++moved) {
        add(std::min(moved->first, module.end), 0);
        add(std::min(moved->second.end, module.end), moved->second.by);
    }
    add(module.end, 0);
}

}  // namespace gr::tool
