// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator of arenas and, for what is larger than half of their chunks, huge blocks.
// Invariant: an address at a chunk's begin is a huge block's, any other one's chunk names its arena. Where there is no
//    memory, chunks that are kept for their next use go back, then it is tried again.
// Must not know: how an arena serves, how a thread has one, and how huge blocks are found.
#pragma once

#include "parts/contract/allocator.hpp"
#include "parts/jemalloc/arena_report.hpp"
#include "parts/jemalloc/arenas.hpp"
#include "parts/jemalloc/huge_blocks.hpp"

namespace gr::lab {

// No region is smaller than kLeastSize.
template <ArenaLike OneArena, ArenaChoice Choice, std::size_t kLeastSize>
class ArenasAndHuge {
    using OwnChunk = Chunk<OneArena>;

  public:
    void *allocate(std::size_t size) {
        if (size == 0 && is_system_v()) return nullptr;
        return allocate_at(size, kAlignment);
    }
    void *allocate_aligned(std::size_t size, std::size_t alignment) {
        return allocate_at(RunLayout::rounded_for(size, alignment), alignment);
    }
    // A thread whose first call this is has an arena from here on, as the paper has it.
    void free(void *p) {
        arenas_.mine();
        if (layout().chunk().is_begin(p)) return huge_.free(p);
        OwnChunk *const chunk = OwnChunk::of(p, layout().chunk());
        chunk->owner()->free(chunk, p);
    }
    std::size_t usable_size(const void *p) {
        if (layout().chunk().is_begin(p)) return huge_.usable_size(p);
        return OneArena::usable_size(OwnChunk::of(p, layout().chunk()), layout(), p);
    }
    std::size_t zeroed_above() const {
        return layout().options().junk != 0 ? SIZE_MAX : layout().chunk().longest_run();
    }
    void thread_ends() {}

    void draw(auto &picture) const {
        arenas_.draw(picture);
        huge_.draw(picture);
    }
    void lock() { lock_all(arenas_, huge_); }
    void unlock() { unlock_all(arenas_, huge_); }

  private:
    const RunLayout &layout() const { return arenas_.layout(); }
    // Options are read when arenas are made.
    bool is_system_v() { return arenas_.mine() != nullptr && layout().options().system_v != 0; }

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
        auto *const allocator = static_cast<ArenasAndHuge *>(of);
        ArenaReport().write(allocator->arenas_, allocator->huge_);
    }

    Arenas<OneArena, Choice, kLeastSize> arenas_{&ArenasAndHuge::report, this};
    HugeBlocks huge_;
};

}  // namespace gr::lab
