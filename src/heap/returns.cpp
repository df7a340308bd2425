// SPDX-License-Identifier: Apache-2.0 OR MIT
// No other owner is settled while a global bin's lock is held.

#include "heap/returns.hpp"

namespace gr {

BlockRef Returns::find_or_die(const char *function, const void *p) const {
    const BlockRef ref = superblocks_.find(p);
    if (ref.fault == BlockFault::none && ref.superblock->use == UnitUse::superblock) return ref;
    if (ref.fault == BlockFault::interior) {
        die_interior(function, p, superblocks_.address(ref.superblock, ref.index),
                     superblocks_.block_size(ref.superblock));
    }
    die_foreign(function, p);
}

void Returns::give_back(OwnerIndex o, void *const *blocks, std::uint32_t count, MayWait may_wait) {
    Giver offline(*this, may_wait);
    for (std::uint32_t done = 0; done < count;) {
        const void *const p = blocks[done];
        const BlockRef ref = find_or_die(owners_.setup().free, p);
        Superblock *const s = ref.superblock;
        // Rule 1: if this heap is the owner, it stays the owner while its lock is held.
        if (owner_of(s) == o) {
            const std::uint32_t given = superblocks_.give(s, blocks + done, count - done);
            if (given == 0) die_twice(owners_.setup().free, p, s->shape().size);
            if (s->is_empty()) expect_none_of(s, {blocks + done + given, count - done - given});
            offline.let_go();  // gave() may take a global bin's lock itself
            ownership_.gave(o, s, given);
            done += given;
            continue;
        }
        if (const std::uint32_t given = offline.give(ref, blocks + done, count - done); given != 0) {
            done += given;
            continue;
        }
        offline.let_go();
        const BitPosition at = BitPosition::of(ref.index);
        remote_.set(s, at.word, at.mask, may_wait);
        ++done;
    }
}

// All blocks of s are free, so one that comes now was freed twice. After s is released, nobody can tell.
void Returns::expect_none_of(const Superblock *s, std::span<void *const> blocks) const {
    for (void *const p : blocks) {
        if (find_or_die(owners_.setup().free, p).superblock == s) die_twice(owners_.setup().free, p, s->shape().size);
    }
}

void Returns::give_one(const char *function, void *p, bool in_handler) {
    const BlockRef ref = find_or_die(function, p);
    if (superblocks_.is_free(ref.superblock, ref.index)) die_twice(function, p, ref.superblock->shape().size);
    if (!in_handler && Giver(*this, MayWait::yes).give(ref, &p, 1) != 0) return;
    const BitPosition at = BitPosition::of(ref.index);
    remote_.set(ref.superblock, at.word, at.mask, MayWait::yes);
}

}  // namespace gr
