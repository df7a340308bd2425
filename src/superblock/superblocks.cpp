// SPDX-License-Identifier: Apache-2.0 OR MIT
// free_count and first_word follow every change of `free` in the same function.
#include "superblock/superblocks.hpp"

#include "platform/events.hpp"
#include "platform/memory.hpp"

namespace gr {

Superblock *Superblocks::make(UnitIndex first, UnitCount count, UnitUse use) {
    Superblock *const s = descriptor(first);
    s->tail_pages = 0;
    for (std::uint32_t i = 1; i < count.value; ++i) {
        s[i].head = i;
        s[i].use = UnitUse::interior;
        s[i].tail_pages = 0;
    }
    s->unit = first;
    s->units = count;
    s->group = kNoGroup;
    s->next = s->previous = nullptr;
    // A collection may stop this thread anywhere here: what is in use has its units.
    std::atomic_signal_fence(std::memory_order_release);
    s->use = use;
    return s;
}

Superblock *Superblocks::make_superblock(UnitIndex first, ClassIndex c, bool zeroed) {
    Superblock *const s = make(first, UnitCount(shape_of(c).units), UnitUse::superblock);
    s->size_class = c;
    s->free_count = shape_of(c).blocks;
    s->first_word = 0;
    s->fresh_from = 0;
    s->zeroed = zeroed;
    s->absent = PageSet();
    s->taken = false;
    s->rested = false;
    s->kept = 0;
    free_bits(s).set_all();
    GR_CHECK(remote_count(s) == 0);
    return s;
}

Superblock *Superblocks::make_run(UnitIndex first, UnitCount count) {
    Superblock *const s = make(first, count, UnitUse::run);
    s->cleared = false;
    return s;
}

void Superblocks::set_tail(Superblock *run, std::size_t bytes) {
    GR_CHECK(bytes <= kUnitBytes && bytes < run->bytes() && bytes % kLeastPageBytes == 0);
    run->tail_pages = static_cast<std::uint16_t>(bytes / kLeastPageBytes);
}

void Superblocks::resize_run(Superblock *run, UnitCount count) {
    GR_CHECK(run->tail_pages == 0);
    for (std::uint32_t i = count.value; i < run->units.value; ++i) run[i].use = UnitUse::unused;
    make(run->unit, count, UnitUse::run);
}

// The last unit remembers the tail, for absent_tail().
void Superblocks::unmake(Superblock *s) {
    const std::uint16_t tail = s->use == UnitUse::run ? s->tail_pages : std::uint16_t{0};
    s->tail_pages = 0;
    s[s->units.value - 1].tail_pages = tail;
    for (std::uint32_t i = 0; i < s->units.value; ++i) s[i].use = UnitUse::unused;
}

std::uint32_t Superblocks::take(Superblock *s, std::span<void *> room) {
    Bitmap free = free_bits(s);
    char *const start = begin(s);
    const std::size_t size = s->shape().size;
    const auto count = static_cast<std::uint32_t>(room.size());
    void **const end = room.data() + count;
    void **next = end;
    std::uint32_t taken = 0;
    std::uint32_t w = s->first_word;
    for (; w < free.word_count(); ++w) {
        Word bits = free.word(w);
        std::uint32_t last = 0;
        if (bits == ~Word{0} && count - taken >= kWordBits) {  // usual in a superblock that is new or was emptied
            char *block = start + std::size_t{w} * kWordBits * size;
            for (std::uint32_t i = 0; i < kWordBits; ++i, block += size) *--next = block;
            taken += kWordBits;
            last = (w + 1) * kWordBits - 1;
            bits = 0;
        }
        while (bits != 0 && taken < count) {
            last = w * kWordBits + static_cast<std::uint32_t>(std::countr_zero(bits));
            bits &= bits - 1;
            *--next = start + last * size;
            ++taken;
        }
        free.word(w) = bits;
        if (last >= s->fresh_from) s->fresh_from = last + 1;
        if (taken == count) break;
    }
    s->first_word = w;
    s->free_count -= taken;
    s->taken = true;
    if (taken != 0 && s->absent.any()) [[unlikely]]
        touch(s, end[-1], *next);
    return taken;
}

namespace {

// Neighbouring blocks whose bits share a word.
struct WordRun {
    std::uint32_t count;
    Word mask;
};

// The neighbours at the front of `blocks`: blocks that were allocated in turn are often freed in turn, forwards or
// backwards. blocks[0] is block i, and count > 0.
WordRun neighbours(void *const *blocks, std::uint32_t count, BlockIndex i, const ClassShape &shape) {
    const std::uint32_t bit = i.value % kWordBits;
    const auto distance = [blocks](std::uint32_t n) {
        return static_cast<const char *>(blocks[n]) - static_cast<const char *>(blocks[n - 1]);
    };
    const auto length = [&](std::ptrdiff_t step, std::uint32_t most) {
        std::uint32_t n = 1;
        while (n < count && n < most && distance(n) == step) ++n;
        return n;
    };
    if (count > 1) {
        const auto size = static_cast<std::ptrdiff_t>(shape.size);
        if (distance(1) == size) {
            const std::uint32_t in_superblock = shape.blocks - i.value;
            const std::uint32_t n = length(size, in_superblock < kWordBits - bit ? in_superblock : kWordBits - bit);
            return {n, low_bits(n) << bit};
        }
        if (distance(1) == -size) {
            const std::uint32_t n = length(-size, bit + 1);
            return {n, low_bits(n) << (bit + 1 - n)};
        }
    }
    return {1, Word{1} << bit};
}

}  // namespace

// The pages from the first block to the last may be touched from now on, so they are no longer absent.
void Superblocks::touch(Superblock *s, const void *first, const void *last) {
    const int page_shift = std::countr_zero(platform::page_size());
    const auto from = static_cast<std::size_t>(static_cast<const char *>(first) - begin(s));
    auto to = static_cast<std::size_t>(static_cast<const char *>(last) - begin(s)) + s->shape().size;
    // The tail behind the last block goes with that block, so that a full superblock has no absent pages.
    if (to == s->shape().bytes_of_blocks()) to = s->bytes();
    s->absent.remove(static_cast<unsigned>(from >> page_shift), static_cast<unsigned>((to - 1) >> page_shift));
}

std::uint32_t Superblocks::give(Superblock *s, void *const *blocks, std::uint32_t count) {
    const ClassShape shape = s->shape();  // by value: no store below can change it
    const std::size_t end = shape.bytes_of_blocks();
    const char *const start = begin(s);
    Bitmap free = free_bits(s);
    const AtomicWord *const remote = remote_words(s);
    std::uint32_t lowest = s->first_word;
    std::uint32_t given = 0;
    // Neighbouring blocks often share a word, so the word is kept in a register from one block to the next.
    std::uint32_t w = 0;
    Word bits = free.word(0);
    Word strange = remote[0].load(std::memory_order_relaxed);
    while (given < count) {
        const auto offset = static_cast<std::size_t>(static_cast<const char *>(blocks[given]) - start);
        if (offset >= end) break;
        const BlockIndex i = shape.block_at(offset);
        if (std::size_t{i.value} * shape.size != offset) break;
        const BitPosition at = BitPosition::of(i);
        if (at.word != w) {
            free.word(w) = bits;
            w = at.word;
            bits = free.word(w);
            strange = remote[w].load(std::memory_order_relaxed);
        }
        WordRun run = neighbours(blocks + given, count - given, i, shape);
        if (((bits | strange) & run.mask) != 0) {
            if (((bits | strange) & at.mask) != 0) break;
            run = {1, at.mask};  // a later block of the run is free already: goes on block by block
        }
        bits |= run.mask;
        if (w < lowest) lowest = w;
        given += run.count;
    }
    free.word(w) = bits;
    s->first_word = lowest;
    s->free_count += given;
    return given;
}

std::size_t Superblocks::touched_end(const Superblock *s) const {
    if (!s->zeroed) return s->bytes();
    return align_up(std::size_t{s->fresh_from} * s->shape().size, platform::page_size());
}

std::size_t Superblocks::bytes_of_blocks(const Superblock *s, const PageSet &pages) const {
    const std::size_t page = platform::page_size();
    const std::size_t end = s->shape().bytes_of_blocks();
    std::size_t bytes = pages.count() * page;
    for (std::size_t begin = align_down(end, page); begin < s->bytes(); begin += page) {
        if (pages.has(static_cast<unsigned>(begin / page))) bytes -= begin + page - (begin < end ? end : begin);
    }
    return bytes;
}

std::size_t Superblocks::idle_bytes(const Superblock *s) const {
    const std::size_t end = s->shape().bytes_of_blocks();
    const std::size_t touched = touched_end(s);
    const std::size_t untouched = touched < end ? end - touched : 0;
    return s->free_count * std::size_t{s->shape().size} - untouched - bytes_of_blocks(s, s->absent);
}

std::size_t Superblocks::absent_bytes(const Superblock *s) const {
    return s->bytes() - touched_end(s) + s->absent.count() * platform::page_size();
}

PageSet Superblocks::empty_pages(const Superblock *s) const {
    PageSet pages;
    const std::size_t page = platform::page_size();
    if (page < kLeastPageBytes || page > kUnitBytes) return pages;
    const ClassShape &shape = s->shape();
    const Bitmap free = free_bits(s);
    const std::size_t end = shape.bytes_of_blocks();
    const std::size_t touched = touched_end(s);
    for (std::size_t begin = 0; begin < touched; begin += page) {
        const auto number = static_cast<unsigned>(begin / page);
        const std::size_t last = (begin + page < end ? begin + page : end) - 1;
        // No block of a page behind the last block can be marked used meanwhile, so that page follows the page before.
        const bool empty = begin < end ? free.all(shape.block_at(begin), shape.block_at(last)) : pages.has(number - 1);
        if (empty && !s->absent.has(number)) pages.add(number);
    }
    return pages;
}

std::uint32_t Superblocks::claim_pages(Superblock *s, const PageSet &pages) { return change_blocks(s, pages, false); }

std::uint32_t Superblocks::return_pages(Superblock *s, const PageSet &pages, const PageSet &gone) {
    s->absent.add(gone);
    return change_blocks(s, pages, true);
}

std::uint32_t Superblocks::change_blocks(Superblock *s, const PageSet &pages, bool free) {
    const std::size_t page = platform::page_size();
    const ClassShape &shape = s->shape();
    const std::size_t end = shape.bytes_of_blocks();
    Bitmap bits = free_bits(s);
    std::uint32_t changed = 0;
    std::uint32_t lowest = s->first_word;
    pages.for_each_run([&](unsigned first, unsigned count) {
        const std::size_t behind = (first + count) * page;
        if (first * page >= end) return;
        const BlockIndex low = shape.block_at(first * page);
        changed += bits.change(low, shape.block_at((behind < end ? behind : end) - 1), free);
        if (low.value / kWordBits < lowest) lowest = static_cast<std::uint32_t>(low.value / kWordBits);
    });
    // Taking blocks leaves first_word valid: no bit is set below it.
    if (free) s->first_word = lowest;
    s->free_count = free ? s->free_count + changed : s->free_count - changed;
    return changed;
}

std::uint32_t Superblocks::collect(Superblock *s, void **twice) {
    Bitmap free = free_bits(s);
    AtomicWord *const remote = remote_words(s);
    std::uint32_t collected = 0;
    for (std::uint32_t w = 0; w < free.word_count(); ++w) {
        if (remote[w].load(std::memory_order_relaxed) == 0) continue;
        platform::count(platform::Event::atomic_operation);
        // acquire: pairs with the release in set_remote.
        const Word bits = remote[w].exchange(0, std::memory_order_acquire);
        const Word both = free.word(w) & bits;
        if (both != 0) {
            *twice = address(s, BlockIndex(w * kWordBits + static_cast<std::uint32_t>(std::countr_zero(both))));
        }
        free.word(w) |= bits;
        collected += static_cast<std::uint32_t>(std::popcount(bits));
        if (w < s->first_word) s->first_word = w;
    }
    s->free_count += collected;
    return collected;
}

bool Superblocks::is_free(const Superblock *s, BlockIndex i) const { return is_free(s->unit, s->size_class, i); }

std::uint32_t Superblocks::remote_count(const Superblock *s) const {
    std::uint32_t count = 0;
    for (std::uint32_t w = 0; w < s->shape().words; ++w) {
        count += static_cast<std::uint32_t>(std::popcount(remote_words(s)[w].load(std::memory_order_relaxed)));
    }
    return count;
}

bool Superblocks::is_valid(const Superblock *s) const {
    if (s->use != UnitUse::superblock || s->units.value != s->shape().units) return false;
    Bitmap free = free_bits(s);
    if (!free.is_valid() || free.count() != s->free_count) return false;
    for (std::uint32_t w = 0; w < s->first_word; ++w) {
        if (free.word(w) != 0) return false;
    }
    for (std::uint32_t w = 0; w < free.word_count(); ++w) {
        if ((free.word(w) & remote_words(s)[w].load(std::memory_order_relaxed)) != 0) return false;
    }
    return true;
}

}  // namespace gr
