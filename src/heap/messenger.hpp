// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: messages between heaps: sends blocks to the heaps that own them, and receives the messages of a heap.
// Invariant: a block handed over reaches a message, a bitmap or a remote bit under the same hold of the heap's lock.
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

    // The sender's lock is held. Sends blocks of any owners; a block that no message can carry goes to its bitmap or
    // remote bit. Changes the order of `blocks`. Returns the bytes of all blocks.
    std::size_t send(OwnerIndex from, std::span<void *> blocks);
    // The heap's lock is held, and perhaps other locks by callers further out. Moves the received blocks into the
    // heap's magazines, as if they were freed here, where these may be touched and have room. The others go to bitmaps
    // or remote bits.
    void receive(OwnerIndex o);

  private:
    class Drafts;

    // Returns the blocks that no message carries.
    void hand_in(Drafts &drafts, Outbox &outbox, std::span<void *> blocks);

    Owners &owners_;
    RemoteFrees &remote_;
    Returns &returns_;
    Region &region_;
    const Superblocks &superblocks_;
};

}  // namespace gr
