// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: out of magazines: a full one makes room, and all are emptied for who wants the memory.
// Invariant: a block leaves a magazine and reaches a bitmap, a message or a bit under one hold of the heap's lock.
// Must not know: requests in bytes; who wants the memory.
#pragma once

#include "heap/capacities.hpp"
#include "heap/messenger.hpp"

namespace gr {

class Flusher {
  public:
    constexpr Flusher(Owners &owners, RemoteFrees &remote, Returns &returns, Messenger &messenger,
                      Capacities &capacities)
        : owners_(owners), remote_(remote), returns_(returns), messenger_(messenger), capacities_(capacities) {}

    // There is room now; the caller has moved to another CPU; its block is free; the lock is its own already, or nothing
    // may be gathered.
    enum class Result : std::uint8_t { room, moved, freed, refused };

    // No lock is held. Makes room for p: by a larger capacity if the budget allows, else by giving back what was freed last,
    // half of it at most, and p itself where the magazine has no slot at all.
    Result flush(OwnerIndex o, ClassIndex c, void *p);
    // The same of the magazine of blocks that others own.
    Result flush_remote(OwnerIndex o);

    // In these the heap's lock is held.

    Result flush_locked(OwnerIndex o, ClassIndex c, void *p);
    // Everything, as far as its magazines may be touched.
    void flush_all(OwnerIndex o);
    // What was taken out of the sequences' reach.
    void flush_detached(OwnerIndex o);

  private:
    Result flush_remote_locked(OwnerIndex o, bool may_grow);

    Owners &owners_;
    RemoteFrees &remote_;
    Returns &returns_;
    Messenger &messenger_;
    Capacities &capacities_;
};

}  // namespace gr
