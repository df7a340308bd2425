// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: disappearing links of one length: cells that are to hold null once the object that belongs to them is gone.
// Invariant: a cell has one object at most, and keeps neither it nor the block that it lies in. The caller holds the
//    lock of the collector; cells are written while the world is stopped.
// Must not know: what a cell holds; which links are short and which long: that is when they are cleared.
#pragma once

#include "collector/address_table.hpp"
#include "collector/marking.hpp"

namespace gr {

// The numbers are those of gc.h.
enum class LinkResult : std::uint8_t { success = 0, duplicate = 1, no_memory = 2, not_found = 4 };

class Links {
  public:
    constexpr Links() = default;

    // duplicate: the cell was there; it belongs to this object from now on.
    LinkResult add(void **cell, const void *object);
    // What is registered moves, what the cells hold does not. duplicate: the other is there, nothing changed.
    LinkResult move(void **cell, void **to);
    // false: it was not there.
    bool remove(void **cell) { return objects_.remove(cell); }
    std::size_t size() const { return objects_.size(); }
    // Once in each collection.
    void give_back_memory() { objects_.give_back(); }
    // Without the lock.
    std::size_t used_bytes() const { return objects_.used_bytes(); }
    platform::Growing memory() const { return objects_.memory(); }

    // Cells of objects that are not marked become null and are forgotten.
    template <Marking M>
    void clear_dead(const M &marking) {
        objects_.remove_if([&](void *cell, Hidden object) {
            if (marking.is_marked(object.reveal())) return false;
            *static_cast<void **>(cell) = nullptr;
            return true;
        });
    }
    // Cells that lie in objects that are not marked, or that the program has freed, are forgotten as they are.
    template <Marking M>
    void forget_dead_cells(const M &marking) {
        objects_.remove_if([&](void *cell, Hidden) { return marking.is_lost(cell); });
    }

  private:
    AddressTable<Hidden> objects_;  // by cell
};

}  // namespace gr
