// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: all superblocks of a region: finds the descriptor and the block of an address, and holds the free and remote
//    bitmaps.
// Invariant: blocks = in use + cached + popcount(free) + popcount(remote): every block is in exactly one state. No byte
//    of a block is read or written here.
// Must not know: heaps, magazines, who owns a superblock.
#pragma once

#include <span>

#include "base/bitmap.hpp"
#include "region/region.hpp"
#include "superblock/superblock.hpp"

namespace gr {

using AtomicWord = std::atomic<Word>;

enum class BlockFault : std::uint8_t { none, foreign, interior };

struct BlockRef {
    Superblock *superblock = nullptr;
    BlockIndex index;
    BlockFault fault = BlockFault::foreign;
};

class Superblocks {
  public:
    struct Rows {
        const char *begin;
        std::size_t bytes;
    };
    static constexpr std::size_t kNarrowWords = 16;  // of one bitmap, for all size classes but the smallest
    static constexpr std::size_t kWideWords = divide_up(kMaxBlocks, kWordBits);
    enum Table : std::uint8_t { kDescriptors = kPageHeapTables, kNarrowBitmaps, kWideBitmaps };
    // Bytes of each growing table for one chunk, in the order of Table.
    static constexpr std::array<std::size_t, kGrowingTables - kPageHeapTables> kBytesPerChunk = {
        kUnitsPerChunk * sizeof(Superblock),
        kUnitsPerChunk * 2 * kNarrowWords * sizeof(Word),
        kUnitsPerChunk * 2 * kWideWords * sizeof(Word),
    };

    explicit constexpr Superblocks(Region &region) : region_(region) {}

    // Whether the bitmaps of this size class lie in the wide table.
    static bool is_wide(ClassIndex c) { return shape_of(c).words > kNarrowWords; }

    Superblock *descriptor(UnitIndex u) const {
        return reinterpret_cast<Superblock *>(region_.table(kDescriptors)) + (u.value - region_.first_unit().value);
    }
    // The first descriptor of the superblock or run that the unit belongs to.
    Superblock *head(UnitIndex u) const {
        Superblock *const d = descriptor(u);
        return d->use == UnitUse::interior ? d - d->head : d;
    }
    char *begin(const Superblock *s) const { return region_.address(s->unit); }
    // A run is one block, which ends where the run's absent tail begins. No other block begins in the tail, so an
    // address there belongs to the run, too: block_extent counts these addresses.
    static std::size_t block_size(const Superblock *s) {
        return s->use == UnitUse::run ? s->bytes() - s->tail_bytes() : s->shape().size;
    }
    static std::size_t block_extent(const Superblock *s) {
        return s->use == UnitUse::run ? s->bytes() : s->shape().size;
    }
    char *address(const Superblock *s, BlockIndex i) const { return begin(s) + i.value * block_size(s); }
    // The block at p, where p lies in a committed unit. Does not tell whether the block is free.
    BlockRef find(const void *p) const;
    static std::size_t offset_in_unit(const void *p) { return reinterpret_cast<std::uintptr_t>(p) % kUnitBytes; }
    // Whether p may be a block of this shape: always true for such a block. Most shapes need no descriptor for this.
    bool may_be_block(const ClassShape &shape, const void *p) const {
        if (shape.units == 1) [[likely]]
            return shape.divides(offset_in_unit(p));
        return region_.contains(p) && find(p).fault == BlockFault::none;
    }

    Bitmap free_bits(const Superblock *s) const { return {words(s), s->shape().blocks}; }
    AtomicWord *remote_words(const Superblock *s) const {
        return reinterpret_cast<AtomicWord *>(words(s) + words_per_bitmap(s));
    }

    // Where the bits are, or would be, of a superblock of this size class that begins at the unit.
    struct Bits {
        const Word *free;
        const AtomicWord *remote;
    };
    Bits bits_of(UnitIndex first, ClassIndex c) const { return bit_rows().of(first, c); }
    // Where the bits of all superblocks are, for ever. Whoever looks for many blocks keeps a copy.
    class BitRows {
      public:
        constexpr BitRows() = default;
        constexpr BitRows(std::uintptr_t narrow, std::uintptr_t wide) : narrow_(narrow), wide_(wide) {}

        [[gnu::always_inline]] Bits of(UnitIndex first, ClassIndex c) const {
            const bool wide = is_wide(c);
            const auto *const words =
                reinterpret_cast<const Word *>((wide ? wide_ : narrow_) + first.value * row_bytes(wide));
            return {words, reinterpret_cast<const AtomicWord *>(words + (wide ? kWideWords : kNarrowWords))};
        }
        // Whether a bitmap has the block.
        [[gnu::always_inline]] bool has(UnitIndex first, ClassIndex c, BlockIndex i) const {
            const BitPosition at = BitPosition::of(i);
            const Bits bits = of(first, c);
            const Word free =
                std::atomic_ref<Word>(const_cast<Word &>(bits.free[at.word])).load(std::memory_order_relaxed);
            return ((free | bits.remote[at.word].load(std::memory_order_relaxed)) & at.mask) != 0;
        }

      private:
        std::uintptr_t narrow_ = 0;  // where the row of unit 0 would lie
        std::uintptr_t wide_ = 0;
    };
    BitRows bit_rows() const {
        const auto begin = [this](bool wide) {
            return reinterpret_cast<std::uintptr_t>(rows_below(region_.first_unit(), wide).begin) -
                   region_.first_unit().value * row_bytes(wide);
        };
        return {begin(false), begin(true)};
    }
    // rows_below: the memory of both bitmaps, narrow or wide, of all units below `end`. unit_of_row: the unit whose row
    // holds this byte. For the collector, which watches what is written there.
    Rows rows_below(UnitIndex end, bool wide) const {
        const std::size_t units = end.value - region_.first_unit().value;
        return {region_.table(wide ? kWideBitmaps : kNarrowBitmaps), units * row_bytes(wide)};
    }
    UnitIndex unit_of_row(const char *row, bool wide) const {
        const auto offset = static_cast<std::size_t>(row - region_.table(wide ? kWideBitmaps : kNarrowBitmaps));
        return UnitIndex(region_.first_unit().value + static_cast<std::uint32_t>(offset / row_bytes(wide)));
    }

    // A run of units becomes a superblock with all blocks free, or a single block (a run). unmake ends either.
    Superblock *make_superblock(UnitIndex first, ClassIndex c, bool zeroed);
    Superblock *make_run(UnitIndex first, UnitCount count);
    // So many bytes at the end of the run, whole pages and at most a unit, are absent from now on.
    static void set_tail(Superblock *run, std::size_t bytes);
    // Before units become a superblock or a run: bytes at their end that are absent since an earlier run ended there.
    std::size_t absent_tail(UnitIndex first, UnitCount count) const {
        return descriptor(UnitIndex(first.value + count.value - 1))->tail_bytes();
    }
    // Not of a run with an absent tail.
    void resize_run(Superblock *run, UnitCount count);
    void unmake(Superblock *s);

    // The owner's lock is held for all functions down to return_pages.
    // Takes blocks into the end of `room`, the lowest address last, as a magazine's slots want them. Returns how many.
    std::uint32_t take(Superblock *s, std::span<void *> room);
    // Frees blocks in turn until the first that is no block of s or is free already. Returns how many it freed. The
    // caller finds out what is wrong with the next block.
    std::uint32_t give(Superblock *s, void *const *blocks, std::uint32_t count);
    // Moves the remote bits into `free` and returns how many. Stores a block that was free already in *twice.
    std::uint32_t collect(Superblock *s, void **twice);

    // Frees all blocks whose bits are not set in live(w), the bits of word w. Returns how many were not free before.
    template <class Live>
    std::uint32_t keep_only(Superblock *s, Live live) {
        Bitmap free = free_bits(s);
        std::uint32_t freed = 0;
        for (std::uint32_t w = free.word_count(); w-- != 0;) {
            const Word more = ~live(w) & free.valid_bits(w) & ~free.word(w);
            if (more == 0) continue;
            free.word(w) |= more;
            freed += static_cast<std::uint32_t>(std::popcount(more));
            if (w < s->first_word) s->first_word = w;
        }
        s->free_count += freed;
        return freed;
    }

    // Bytes of free blocks that may be resident.
    std::size_t idle_bytes(const Superblock *s) const;
    // Bytes of the pages that blocks cover.
    std::size_t bytes_of_blocks(const Superblock *s, const PageSet &pages) const;
    // Bytes of pages that were never touched or are absent.
    std::size_t absent_bytes(const Superblock *s) const;
    // All pages that hold no block in use and may be resident.
    PageSet empty_pages(const Superblock *s) const;
    // Marks the pages' blocks used while the pages are being returned to the OS. Returns how many blocks.
    std::uint32_t claim_pages(Superblock *s, const PageSet &pages);
    // Frees the blocks of claim_pages again. gone: those of the pages that were returned. Returns how many blocks.
    std::uint32_t return_pages(Superblock *s, const PageSet &pages, const PageSet &gone);

    // Any thread may call it. Sets remote bits of one word. false: one of them was set already.
    bool set_remote(Superblock *s, std::uint32_t word, Word mask) {
        // release: pairs with the acquire in collect, so that the program's writes to the block come before its reuse.
        return (remote_words(s)[word].fetch_or(mask, std::memory_order_acq_rel) & mask) == 0;
    }

    // Whether one of the bitmaps has the block. Without the owner's lock a hint, but never true for a block in use.
    bool is_free(const Superblock *s, BlockIndex i) const;
    // Whether a bitmap has the block, of a superblock that is named by its first unit and its size class.
    bool is_free(UnitIndex first, ClassIndex c, BlockIndex i) const { return bit_rows().has(first, c, i); }
    // The blocks of one word that no bitmap has: in use or cached.
    Word used_bits(const Superblock *s, std::uint32_t word) const {
        const Bitmap free(words(s), s->shape().blocks);
        return free.valid_bits(word) & ~words(s)[word] & ~remote_words(s)[word].load(std::memory_order_relaxed);
    }
    std::uint32_t remote_count(const Superblock *s) const;
    bool is_valid(const Superblock *s) const;

  private:
    static constexpr std::size_t row_bytes(bool wide) { return 2 * (wide ? kWideWords : kNarrowWords) * sizeof(Word); }
    static std::size_t words_per_bitmap(const Superblock *s) {
        return is_wide(s->size_class) ? kWideWords : kNarrowWords;
    }
    Word *words(const Superblock *s) const {
        const std::size_t per_bitmap = words_per_bitmap(s);
        const Table table = per_bitmap == kNarrowWords ? kNarrowBitmaps : kWideBitmaps;
        const std::size_t unit = s->unit.value - region_.first_unit().value;
        return reinterpret_cast<Word *>(region_.table(table)) + unit * 2 * per_bitmap;
    }
    Superblock *make(UnitIndex first, UnitCount count, UnitUse use);
    // The offset behind which no page was touched since the superblock was made; its end if that is not known.
    std::size_t touched_end(const Superblock *s) const;
    void touch(Superblock *s, const void *first, const void *last);
    std::uint32_t change_blocks(Superblock *s, const PageSet &pages, bool free);

    Region &region_;
};

inline BlockRef Superblocks::find(const void *p) const {
    BlockRef ref;
    const UnitIndex unit = region_.unit_of(p);
    if (unit < region_.first_unit()) return ref;
    Superblock *const s = head(unit);
    if (s->use != UnitUse::superblock && s->use != UnitUse::run) return ref;
    const auto offset = static_cast<std::size_t>(static_cast<const char *>(p) - begin(s));
    ref.superblock = s;
    ref.fault = offset == 0 ? BlockFault::none : BlockFault::interior;
    if (s->use == UnitUse::run) return ref;
    const ClassShape &shape = s->shape();
    ref.index = shape.block_at(offset);
    if (ref.index.value >= shape.blocks) return {};  // the tail that no block covers
    ref.fault = std::size_t{ref.index.value} * shape.size == offset ? BlockFault::none : BlockFault::interior;
    return ref;
}

}  // namespace gr
