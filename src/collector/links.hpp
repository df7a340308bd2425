// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: disappearing links: cells that the collector sets to null once the cell's object is gone.
// Invariant: a cell has at most one object. It keeps neither the object nor the block that the cell lies in. The caller
//    holds the collector's lock; cells are written while the threads stand.
// Must not know: what a cell holds; whether its links are cleared before or after finalization.
#pragma once

#include "collector/address_table.hpp"
#include "collector/marking.hpp"

namespace gr {

// The numbers are those of gc.h.
enum class LinkResult : std::uint8_t { success = 0, duplicate = 1, no_memory = 2, not_found = 4 };

class Links {
  public:
    constexpr Links() = default;

    // duplicate: the cell was registered; it belongs to this object from now on.
    LinkResult add(void **cell, const void *object);
    // Moves the registration, and not what the cells hold. duplicate: `to` is registered already, and nothing changed.
    LinkResult move(void **cell, void **to);
    // false: the cell was not registered.
    bool remove(void **cell) { return objects_.remove(cell); }
    std::size_t size() const { return objects_.size(); }
    // Once in each collection.
    void give_back_memory() { objects_.give_back(); }
    platform::Growing memory() const { return objects_.memory(); }

    // Sets the cells of unmarked objects to null and forgets them.
    template <Marking M>
    void clear_dead(const M &marking) {
        objects_.remove_if([&](void *cell, Hidden object) {
            if (marking.is_marked(object.reveal())) return false;
            *static_cast<void **>(cell) = nullptr;
            return true;
        });
    }
    // Forgets the cells that lie in unmarked objects or in freed ones, and does not write to them.
    template <Marking M>
    void forget_dead_cells(const M &marking) {
        objects_.remove_if([&](void *cell, Hidden) { return marking.is_lost(cell); });
    }

  private:
    AddressTable<Hidden> objects_;  // by cell
};

}  // namespace gr
