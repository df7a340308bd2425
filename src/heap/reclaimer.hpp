// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: returns the blocks of magazines, also of other concurrency ids: all magazines for malloc_trim, when memory is
//    short and in address-saving mode; those of idle heaps for the background thread.
// Invariant: another id's magazine is changed only while the sequences are stopped and every heap's lock is held. Its
//    blocks then stay where they lie, out of the sequences' reach, until they are returned under that heap's lock.
// Must not know: for whom the memory is.
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

    // In these functions the caller holds no lock. If the caller is a signal handler, the code that it interrupted may
    // hold locks; then the function does what it can.

    // Empties all magazines, collects every remote free, and releases what is empty.
    void reclaim() { reclaim(Which::all); }
    // Called at each tick. Reclaims from the heaps that had no slow path for kTicksToIdle ticks, or one tick less.
    void reclaim_idle();
    // Like reclaim, and leaves no magazine a slot.
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
