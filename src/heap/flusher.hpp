// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: moves blocks out of magazines: makes room in a full magazine, or empties all magazines of a heap.
// Invariant: a block leaves a magazine and reaches a bitmap, a message or a remote bit under one hold of the heap's
//    lock.
// Must not know: requests in bytes; for whom the memory is.
#pragma once

#include "heap/capacities.hpp"
#include "heap/messenger.hpp"

namespace gr {

class Flusher {
  public:
    constexpr Flusher(Owners &owners, RemoteFrees &remote, Returns &returns, Messenger &messenger,
                      Capacities &capacities)
        : owners_(owners), remote_(remote), returns_(returns), messenger_(messenger), capacities_(capacities) {}

    // room: the magazine has room now. moved: the caller has moved to another CPU. freed: the caller's block is free.
    // refused: the heap's lock could not be taken, or remote frees may not be gathered now.
    enum class Result : std::uint8_t { room, moved, freed, refused };

    // No lock is held. Makes room for p, by a larger capacity if the budget allows. Otherwise returns the blocks that
    // were freed last, half of the magazine at most. If the magazine has no slot at all, returns p itself.
    Result flush(OwnerIndex o, ClassIndex c, void *p);
    // Like flush, for the remote magazine.
    Result flush_remote(OwnerIndex o);

    // In the following functions the heap's lock is held.

    Result flush_locked(OwnerIndex o, ClassIndex c, void *p);
    // Empties the heap's magazines, as far as the caller may touch them, and drains the heap.
    void flush_all(OwnerIndex o);
    // Returns the detached blocks of all magazines, and drains the heap.
    void flush_detached(OwnerIndex o);

  private:
    // Returns half of the magazine to bitmaps.
    Result return_batch(OwnerIndex o, ClassIndex c, void *p);
    Result flush_remote_locked(OwnerIndex o, bool may_grow);

    Owners &owners_;
    RemoteFrees &remote_;
    Returns &returns_;
    Messenger &messenger_;
    Capacities &capacities_;
};

}  // namespace gr
