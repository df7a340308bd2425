// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/trace/live_set.hpp"

#include <utility>

namespace gr::trace {

// What follows moves up, so that no search ends before it has found what lies behind.
void LiveSet::remove(std::size_t place) {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t next = (place + 1) & mask; slots_[next].address != 0; next = (next + 1) & mask) {
        const std::size_t home = home_of(slots_[next].address);
        if (((next - home) & mask) < ((next - place) & mask)) continue;
        slots_[place] = slots_[next];
        place = next;
    }
    slots_[place].address = 0;
    --count_;
}

void LiveSet::grow() {
    std::vector<Block> before(slots_.size() * 2);
    std::swap(before, slots_);
    for (const Block &block : before) {
        if (block.address != 0) slots_[place_of(block.address)] = block;
    }
}

}  // namespace gr::trace
