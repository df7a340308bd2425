// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: returning what magazines hold, other concurrency ids' too: all that malloc_trim and who is out of memory ask
//    for, and what idle heaps have for the background thread.
// Invariant: another id's magazine is changed only while the sequences are stopped, with every heap's lock held. Its
//    blocks then stay where they lie, out of reach, until they are given back under that heap's lock.
// Must not know: who wants the memory.
#pragma once

#include "heap/flusher.hpp"

namespace gr {

class Reclaimer {
  public:
    constexpr Reclaimer(Owners &owners, RemoteFrees &remote, Ownership &ownership, Capacities &capacities,
                        Flusher &flusher, UnitStore &store)
        : owners_(owners),
          remote_(remote),
          ownership_(ownership),
          capacities_(capacities),
          flusher_(flusher),
          store_(store) {}

    // In these no lock is held, but perhaps by the code that this handler has interrupted: it gets what it can.

    // Empties all magazines, collects every remote free, releases what is empty.
    void reclaim() { reclaim(Which::all); }
    // A tick has gone by: the same for the heaps that had no slow path for kTicksToIdle of them, or one less.
    void reclaim_idle();
    // As reclaim, and leaves no magazine a slot.
    void reclaim_to_save_addresses() { reclaim(Which::address_saving); }

  private:
    enum class Which : std::uint8_t { all, idle, address_saving };

    bool is_wanted(OwnerIndex o, Which which) { return which != Which::idle || owners_.heap(o).is_idle(); }
    void reclaim(Which which);
    bool has_cached(Which which);
    void flush_each(Which which);
    bool flush_stopped(Which which);

    Owners &owners_;
    RemoteFrees &remote_;
    Ownership &ownership_;
    Capacities &capacities_;
    Flusher &flusher_;
    UnitStore &store_;
};

}  // namespace gr
