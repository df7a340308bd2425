// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: messages between heaps: blocks that other heaps own go to these in messages, and a heap receives what came.
// Invariant: a block handed over reaches a message, a bitmap or a bit under the same hold of the heap's lock.
// Must not know: requests in bytes; when a magazine is flushed.
#pragma once

#include <span>

#include "heap/returns.hpp"

namespace gr {

class Messenger {
  public:
    constexpr Messenger(Owners &owners, RemoteFrees &remote, Returns &returns, Region &region,
                        const Superblocks &superblocks)
        : owners_(owners), remote_(remote), returns_(returns), region_(region), superblocks_(superblocks) {}

    // The sender's lock is held. Blocks of any owners; what no message can carry goes to bitmaps. Their bytes.
    std::size_t send(OwnerIndex from, std::span<void *const> blocks);
    // The heap's lock is held, perhaps more by a caller further out. Into its magazines, where these may be touched and
    // have room, as if freed here; else to the bitmaps.
    void receive(OwnerIndex o);

  private:
    class Drafts;

    // What no message carries.
    void hand_in(Drafts &drafts, Outbox &outbox, std::span<void *> blocks);

    Owners &owners_;
    RemoteFrees &remote_;
    Returns &returns_;
    Region &region_;
    const Superblocks &superblocks_;
};

}  // namespace gr
