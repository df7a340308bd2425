// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/stack_tree.hpp"

#include <utility>

namespace gr::tool {

trace::StackNumber StackTree::add(trace::StackNumber caller, std::uint64_t address) {
    if (count_ == kMostNodes) {
        empty_slots(kFirstSlots);
        count_ = 0;
    } else if (2 * (count_ + 1) > slots_.size()) {
        const std::vector<Slot> old = std::exchange(slots_, {});
        empty_slots(2 * old.size());
        for (const Slot &slot : old) {
            if (slot.number != 0) slot_of(slot.parent, slot.address) = slot;
        }
    }
    const std::uint32_t parent = trace::number_of(caller);
    slot_of(parent, address) = {address, parent, ++last_};
    ++count_;
    new_.push_back({caller, address});
    return trace::StackNumber{last_};
}

void StackTree::empty_slots(std::size_t count) {
    slots_.assign(count, {});
    mask_ = count - 1;
}

}  // namespace gr::tool
