// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: `jemalloc2006`: the first jemalloc (Evans, "A Scalable Concurrent malloc(3) Implementation for FreeBSD", 2006,
//       Algorithms and data structures).
// Invariant: a block is served and freed by the arena whose chunk it lies in, whoever frees it, under that arena's lock.
// Must not know: how a part does what it does.
//
//    thread --in turn, for ever--> one of 4 arenas per CPU (of one CPU: the only one), a lock each
//    arena: chunks of 2 MiB      | header: page map | run | run        | run                      |
//           runs of pages        binary buddies: split in halves, joined with the other half only
//           up to 2 KiB          bins of runs:  | header: region bitmap | region | region | ... |
//                                one current run a bin; else QINIT -> Q0 <-> Q25 <-> Q50 <-> Q75 by fullness
//           up to 1 MiB          a run each
//    above 1 MiB                 chunks of their own, in one red-black tree with one lock
//
// Today's malloc gives blocks of any size the alignment of the widest type, so there are no regions below kAlignment: the
// paper's tiny ones of 2, 4 and 8 bytes are there with 2 in its place. MALLOC_OPTIONS: parts/malloc_options.hpp.
// Misuse: a bitmap shows a region that was freed, the page map an address that is no block's; both end the program.
// Exhaustion: what a chunk keeps for its next use goes back, then it is tried again.
#pragma once

#include "parts/allocator.hpp"
#include "parts/arena.hpp"
#include "parts/arena_report.hpp"
#include "parts/arenas.hpp"
#include "parts/huge_blocks.hpp"
#include "parts/run_states.hpp"

namespace gr::lab {

class Jemalloc2006 {
    using OneArena = Arena<Quartiles>;
    using AllArenas = Arenas<OneArena, RoundRobin, kAlignment>;

  public:
    constexpr Jemalloc2006() = default;

    void *allocate(std::size_t size) { return allocate_at(size, kAlignment); }
    void *allocate_aligned(std::size_t size, std::size_t alignment) {
        return allocate_at(RunLayout::rounded_for(size, alignment), alignment);
    }
    void free(void *p) {
        if (layout().chunk().is_begin(p)) return huge_.free(p);
        auto *const chunk = OneArena::ArenasChunk::of(p, layout().chunk());
        chunk->owner()->free(chunk, p);
    }
    std::size_t usable_size(const void *p) {
        if (layout().chunk().is_begin(p)) return huge_.usable_size(p);
        return OneArena::usable_size(OneArena::ArenasChunk::of(p, layout().chunk()), layout(), p);
    }
    std::size_t zeroed_above() const {
        return layout().options().junk != 0 ? SIZE_MAX : layout().chunk().longest_run();
    }
    void thread_ends() {}

    void lock() {
        arenas_.lock();
        huge_.lock();
    }
    void unlock() {
        huge_.unlock();
        arenas_.unlock();
    }
    void unlock_in_child() { unlock(); }

  private:
    const RunLayout &layout() const { return arenas_.layout(); }

    void *allocate_at(std::size_t size, std::size_t alignment) {
        void *block = serve(size, alignment);
        if (block == nullptr && arenas_.give_back_spares()) block = serve(size, alignment);
        if (block != nullptr) {
            layout().options().fill(block, size, layout().is_huge(size));
        } else if (layout().options().fatal_exhaustion != 0) {
            die_of_exhaustion(size);
        }
        return block;
    }
    void *serve(std::size_t size, std::size_t alignment) {
        OneArena *const arena = arenas_.mine();
        if (arena == nullptr || size > kMaxRequest) return nullptr;
        if (layout().is_small(size)) return arena->allocate_small(size);
        if (layout().is_huge(size)) return huge_.allocate(size, alignment, layout().chunk());
        return arena->allocate_large(size);
    }

    static void report(void *of) {
        auto *const allocator = static_cast<Jemalloc2006 *>(of);
        ArenaReport::write(allocator->arenas_, allocator->huge_);
    }

    AllArenas arenas_{&Jemalloc2006::report, this};
    HugeBlocks huge_;
};

using Chosen = Jemalloc2006;
static_assert(Allocator<Chosen>);

}  // namespace gr::lab
