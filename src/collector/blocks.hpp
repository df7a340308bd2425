// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the blocks of all kinds: by any address, and each in turn, with their marks.
// Invariant: a block that is known to be free is not found.
// Must not know: who marks; what becomes of blocks.
#pragma once

#include <bit>

#include "base/zero.hpp"
#include "collector/mark_numbers.hpp"
#include "heap/unit_entry.hpp"

namespace gr {

// A block that is in use or cached.
struct BlockAt {
    void *begin = nullptr;  // nullptr: there is no block
    std::size_t bytes = 0;
    std::size_t extent = 0;  // pointers that lead to it: `bytes`, or more
    Kind *kind = nullptr;

    // Whether the address leads to this block.
    bool contains(const void *p) const {
        return static_cast<std::size_t>(static_cast<const char *>(p) - static_cast<const char *>(begin)) < extent;
    }
    // What a program may write to: with the byte that may be there only for pointers past the end.
    std::size_t usable() const { return bytes < extent ? bytes + 1 : bytes; }
    // Zeroes all of it. The byte behind `bytes` lies in a page that is absent unless the program wrote there.
    void clear() const {
        auto *const first = static_cast<char *>(begin);
        zero_block(first, bytes);
        if (bytes < extent && first[bytes] != 0) first[bytes] = 0;
    }
};

class Blocks {
  public:
    constexpr Blocks(const Kinds &kinds, const MarkNumbers &numbers) : kinds_(kinds), numbers_(numbers) {}
    Blocks(const Blocks &) = delete;
    Blocks &operator=(const Blocks &) = delete;

    // The block that the address points into.
    [[gnu::always_inline]] BlockAt at(const void *p) const {
        const FoundBlock block = kinds_.field().find(reinterpret_cast<std::uintptr_t>(p));
        if (block.begin == nullptr) return {};
        return {const_cast<char *>(block.begin), block.bytes, block.extent, kinds_.kind(block.kind)};
    }
    // By the last collection, or by the collection that runs. p points into a block; an address outside blocks is not
    // marked.
    bool is_marked(const void *p) const;
    void set_mark(const void *p, bool marked) const;
    // Calls visit(BlockAt, is_marked) for all blocks in use. Only while no other thread runs or allocates. In a kind
    // that tells its dead blocks, no block is only cached then.
    template <class Visit>
    void for_each(Kind &kind, Visit visit) const {
        const CollectorView &view = kind.instance.collector_view();
        const Superblocks &superblocks = kind.instance.superblocks();
        const auto visit_each_of = [&](const Superblock *s, std::uint32_t word, Word used) {
            const std::size_t size = Superblocks::block_size(s);
            const Mark *const marks = kind.marks.covers(s->unit) ? kind.marks.row(s) : nullptr;
            for (Word left = used; left != 0; left &= left - 1) {
                const std::size_t i = word * kWordBits + static_cast<unsigned>(std::countr_zero(left));
                const bool is_marked =
                    marks != nullptr && marks[i].load(std::memory_order_relaxed) == numbers_.current();
                visit(BlockAt{superblocks.begin(s) + i * size, size, Superblocks::block_extent(s), &kind}, is_marked);
            }
        };
        view.for_each_superblock([&](const Superblock *s) {
            for (std::uint32_t w = 0; w < s->shape().words; ++w) visit_each_of(s, w, superblocks.used_bits(s, w));
        });
        view.for_each_run([&](const Superblock *run) { visit_each_of(run, 0, 1); });
    }

    // Calls visit(begin, bytes) for the dead blocks of a kind that tells its dead blocks, one superblock after the other. While
    // the threads stand and everything reachable is marked.
    template <class Visit>
    void for_each_dead(const Kind &kind, Visit visit) const {
        const CollectorView &view = kind.instance.collector_view();
        const Superblocks &superblocks = kind.instance.superblocks();
        view.for_each_superblock([&](const Superblock *s) {
            for (std::uint32_t word = 0; word < superblocks.free_bits(s).word_count(); ++word) {
                for (Word bits = dead_bits(kind, s, word); bits != 0; bits &= bits - 1) {
                    const auto bit = static_cast<std::uint32_t>(std::countr_zero(bits));
                    visit(superblocks.address(s, BlockIndex(word * kWordBits + bit)), s->shape().size);
                }
            }
        });
        view.for_each_run([&](const Superblock *run) {
            if (is_dead(kind, run)) visit(superblocks.begin(run), Superblocks::block_size(run));
        });
    }
    // Blocks in use that are not marked: the bits of one word of a superblock's bitmap; a run.
    Word dead_bits(const Kind &kind, const Superblock *s, std::uint32_t word) const {
        Bitmap free = kind.instance.superblocks().free_bits(s);
        return free.valid_bits(word) & ~free.word(word) & ~kind.marks.live(s, word, numbers_.current());
    }
    bool is_dead(const Kind &kind, const Superblock *run) const {
        // A run without an entry is being acquired or released by a thread that was stopped.
        if (load_entry(kind.instance.region(), run->unit) != kRunEntry) return false;
        return kind.marks.row(run->unit, false)->load(std::memory_order_relaxed) != numbers_.current();
    }

  private:
    Target target(const void *p) const { return kinds_.field().target(reinterpret_cast<std::uintptr_t>(p)); }

    const Kinds &kinds_;
    const MarkNumbers &numbers_;
};

}  // namespace gr
