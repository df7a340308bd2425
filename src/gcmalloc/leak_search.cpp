// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gcmalloc/leak_search.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <tuple>

#include "platform/world/readable.hpp"

namespace gr {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr std::uint32_t kSeen = kNone - 1;

}  // namespace

// From each block, in turn, that none before reached: all others hang on these. Of these the last is reached by none
// before it; so backwards, what none after it reaches is reached by none at all.
bool LeakSearch::trace() {
    if (leaks_.size() >= kSeen) return false;
    platform::MappedList<Index> first;
    bool complete = true;
    for (std::size_t i = 0; i < leaks_.size(); ++i) complete = owners_.add(kNone) && complete;
    for (Index i = 0; complete && i < leaks_.size(); ++i) {
        if (owners_[i] == kNone) complete = first.add(i) && reach(i, kSeen);
    }
    if (complete) std::ranges::fill(owners_.all(), kNone);
    while (complete && !first.is_empty()) {
        const Index i = first.take_last();
        if (owners_[i] != kNone) continue;
        owners_[i] = i;
        complete = reach(i, i);
    }
    first.release();
    for (Index i = 0; complete && i < leaks_.size(); ++i) {
        leaks_[i].is_direct = owners_[i] == i;
        leaks_[i].owner = leaks_[owners_[i]].stack;
    }
    return complete;
}

// false: no memory.
bool LeakSearch::reach(Index from, Index owner) {
    if (!todo_.add(from)) return false;
    while (!todo_.is_empty()) {
        const Leak &leak = leaks_[todo_.take_last()];
        const platform::Range whole{leak.begin, leak.begin + leak.bytes};
        bool complete = true;
        const auto reach_from = [&](platform::Range part) { complete = reach_through(part, owner) && complete; };
        // Of a larger one the program may have protected a page.
        if (leak.bytes < platform::page_size()) {
            reach_from(whole);
        } else {
            platform::for_each_readable(whole, reach_from);
        }
        if (!complete) return false;
    }
    return true;
}

bool LeakSearch::reach_through(platform::Range part, Index owner) {
    for (const char *at = part.begin; at + sizeof(void *) <= part.end; at += sizeof(void *)) {
        const char *word = nullptr;
        std::memcpy(&word, at, sizeof word);
        const Index to = index_of(word);
        if (to == kNone || owners_[to] != kNone) continue;
        owners_[to] = owner;
        if (!todo_.add(to)) return false;
    }
    return true;
}

LeakSearch::Index LeakSearch::index_of(const char *p) const {
    const std::span<const Leak> all = leaks_.all();
    const auto after = std::ranges::upper_bound(all, p, {}, &Leak::begin);
    if (after == all.begin() || p >= std::prev(after)->begin + std::prev(after)->bytes) return kNone;
    return static_cast<Index>(std::prev(after) - all.begin());
}

void LeakSearch::sort() {
    const auto key = [](const Leak &leak) { return std::tuple(!leak.is_direct, leak.stack, leak.owner); };
    std::ranges::sort(leaks_.all(), {}, key);
}

void LeakSearch::release() {
    leaks_.release();
    owners_.release();
    todo_.release();
}

}  // namespace gr
