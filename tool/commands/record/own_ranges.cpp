// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/own_ranges.hpp"

#include <unistd.h>

#include <iterator>
#include <utility>

namespace gr::tool {

namespace {

// The pages that a range of bytes touches; an end beyond the last address is there.
std::pair<std::uint64_t, std::uint64_t> pages_of(std::uint64_t address, std::uint64_t bytes) {
    const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
    const std::uint64_t last = UINT64_MAX / page * page;
    const std::uint64_t begin = address / page * page;
    const std::uint64_t end = bytes > last - begin ? last : address + bytes;
    return {begin, (end + page - 1) / page * page};
}

}  // namespace

void OwnRanges::take(const trace::Request &request) {
    switch (request.kind) {
        case trace::RequestKind::map:
            map(request.address, request.size, {Mapper::program, request.stack});
            break;
        case trace::RequestKind::unmap:
            unmap(request.address, request.size);
            break;
        case trace::RequestKind::brk:
            move_break(request.address, request.size, {Mapper::program, request.stack});
            break;
        case trace::RequestKind::advise:
            break;
    }
}

void OwnRanges::take(const trace::Event &event) {
    if (event.op == trace::Op::map && event.address != 0) map(event.address, event.size, {Mapper::allocator, {}});
    if (event.op == trace::Op::unmap) unmap(event.address, event.size);
    if (event.op == trace::Op::brk) move_break(event.address, event.size, {Mapper::allocator, {}});
}

void OwnRanges::inherit(const OwnRanges &other) {
    const std::map<std::uint64_t, Range> own = std::exchange(ranges_, other.ranges_);
    for (auto &[begin, range] : ranges_) range.owner.stack = trace::StackNumber::none;
    for (const auto &[begin, range] : own) map(begin, range.end - begin, range.owner);
}

void OwnRanges::map(std::uint64_t address, std::uint64_t bytes, Owner owner) {
    unmap(address, bytes);
    const auto [begin, end] = pages_of(address, bytes);
    if (begin >= end || ranges_.size() >= kMostRanges) return;
    // A heap that grows bit by bit is one range.
    const auto behind = ranges_.lower_bound(begin);
    if (behind != ranges_.begin()) {
        Range &before = std::prev(behind)->second;
        if (before.end == begin && before.owner == owner) {
            before.end = end;
            return;
        }
    }
    ranges_[begin] = {end, owner};
}

void OwnRanges::unmap(std::uint64_t address, std::uint64_t bytes) {
    const auto [begin, end] = pages_of(address, bytes);
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin()) --at;
    while (at != ranges_.end() && at->first < end) {
        const auto [old_begin, old] = *at;
        if (old.end <= begin) {
            ++at;
            continue;
        }
        at = ranges_.erase(at);
        if (old_begin < begin) ranges_[old_begin] = {begin, old.owner};
        if (old.end > end) at = ranges_.insert_or_assign(end, Range{old.end, old.owner}).first;
    }
}

void OwnRanges::move_break(std::uint64_t old, std::uint64_t grown, Owner owner) {
    const bool has_shrunk = grown >> 63 != 0;
    const std::uint64_t bytes = has_shrunk ? 0 - grown : grown;
    if (has_shrunk && bytes <= old) unmap(old - bytes, bytes);
    if (!has_shrunk) map(old, bytes, owner);
}

}  // namespace gr::tool
