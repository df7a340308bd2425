// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stack_tree.hpp.
// Invariant: as there. At most half of the slots are taken.
// Must not know: what functions the addresses are in.
#include "commands/record/stack_tree.hpp"

#include <granary/wire/recording.h>

#include <algorithm>
#include <utility>

namespace gr::tool {

trace::StackNumber StackTree::number(std::span<const std::uint64_t> words, PlaceTable &places) {
    if (count_ + words.size() > kMostNodes) {
        slots_.assign(std::size_t{1} << kFirstBits, {});
        count_ = 0;
        before_.clear();
    }
    std::size_t known = 0;
    while (known < std::min(words.size(), before_.size()) && before_[known].first == words[words.size() - 1 - known])
        ++known;
    before_.resize(known);
    std::uint32_t node = known == 0 ? 0 : before_.back().second;
    for (std::size_t i = words.size() - known; i != 0; --i) {
        node = child(node, address_of(words[i - 1], node, places));
        before_.emplace_back(words[i - 1], node);
    }
    return trace::StackNumber{node};
}

std::uint64_t StackTree::address_of(std::uint64_t word, std::uint32_t caller, PlaceTable &places) {
    if (word >= GR_RECORDED_PLACE) return places.of_word(word);
    if (word < GR_RECORDED_CALLS_LEFT_OUT) return word;
    return places.left_out(trace::StackNumber{caller}, word & ~GR_RECORDED_CALLS_LEFT_OUT);
}

std::uint32_t StackTree::child(std::uint32_t parent, std::uint64_t address) {
    Slot &slot = slot_of(parent, address);
    if (slot.number != 0) return slot.number;
    slot = {address, parent, ++last_};
    new_.push_back({trace::StackNumber{parent}, address});
    if (++count_ * 2 > slots_.size()) grow();
    return last_;
}

StackTree::Slot &StackTree::slot_of(std::uint32_t parent, std::uint64_t address) {
    constexpr std::uint64_t kMix = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    const std::uint64_t mixed = (address * kMix ^ parent) * kMix;
    for (std::size_t place = mixed >> 32;; ++place) {
        Slot &slot = slots_[place & (slots_.size() - 1)];
        if (slot.number == 0 || (slot.address == address && slot.parent == parent)) return slot;
    }
}

void StackTree::grow() {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(slots_.size() * 2));
    for (const Slot &slot : old) {
        if (slot.number != 0) slot_of(slot.parent, slot.address) = slot;
    }
}

}  // namespace gr::tool
