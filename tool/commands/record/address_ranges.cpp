// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/address_ranges.hpp"

#include <algorithm>
#include <iterator>

namespace gr::tool {

void AddressRanges::insert(std::uint64_t begin, std::uint64_t end) {
    if (end <= begin) return;
    auto next = ranges_.upper_bound(begin);
    if (next != ranges_.begin() && std::prev(next)->second >= begin) --next;
    if (next != ranges_.end() && next->first <= begin && next->second >= end) {
        last_begin_ = next->first;
        last_end_ = next->second;
        return;
    }
    while (next != ranges_.end() && next->first <= end) {
        begin = std::min(begin, next->first);
        end = std::max(end, next->second);
        next = ranges_.erase(next);
    }
    if (ranges_.size() >= kMostRanges) return;
    ranges_.emplace(begin, end);
    last_begin_ = begin;
    last_end_ = end;
}

}  // namespace gr::tool
