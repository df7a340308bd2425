// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the post between heaps: blocks that others own go to their heaps in letters, and a heap opens what came.
// Invariant: a block handed over reaches a letter, a bitmap or a bit under the same hold of the heap's lock.
// Must not know: requests in bytes; when a magazine is flushed.
#pragma once

#include <span>

#include "heap/returns.hpp"

namespace gr {

class Post {
  public:
    constexpr Post(Owners &owners, RemoteFrees &remote, Returns &returns, Region &region,
                   const Superblocks &superblocks)
        : owners_(owners), remote_(remote), returns_(returns), region_(region), superblocks_(superblocks) {}

    // The sender's lock is held. Blocks of any owners; what no letter can carry goes to bitmaps. Their bytes.
    std::size_t send(OwnerIndex from, std::span<void *const> blocks);
    // The heap's lock is held, perhaps more by a caller further out. Into its magazines, where these may be touched and
    // have room, as if freed here; else to the bitmaps.
    void open(OwnerIndex o);

  private:
    class Letters;

    // What no letter carries.
    void hand_in(Letters &letters, Outbox &outbox, std::span<void *> blocks);

    Owners &owners_;
    RemoteFrees &remote_;
    Returns &returns_;
    Region &region_;
    const Superblocks &superblocks_;
};

}  // namespace gr
