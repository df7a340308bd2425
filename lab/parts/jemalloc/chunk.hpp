// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the chunk: memory from the kernel at a multiple of its size, which an address leads to by dropping its lower
//    bits; its runs, and a map that tells of each page what it is used for (jemalloc, figure 3). And the chunks of an
//    arena.
// Invariant: the map lies at the chunk's head, so a page that is not used is not touched. What begins at a chunk's
//    begin is no block of a chunk. A page's entry changes only while its run is free or just taken.
// Must not know: what lies in a run, and what runs are for.
#pragma once

#include <algorithm>
#include <new>
#include <utility>

#include "parts/jemalloc/buddy_runs.hpp"
#include "parts/jemalloc/quantum_bins.hpp"
#include "parts/lists/linked_list.hpp"
#include "parts/memory/misuse.hpp"
#include "parts/memory/wilderness.hpp"
#include "platform/memory.hpp"

namespace gr::lab {

enum class PageUse : std::uint8_t { free, header, small, large };

struct PageEntry {
    std::uint32_t use : 2 = 0;
    std::uint32_t order : 5 = 0;  // of its run
    std::uint32_t first : 25 = 0;

    PageUse used_for() const { return static_cast<PageUse>(use); }
};
static_assert(sizeof(PageEntry) == sizeof(std::uint32_t), "an entry is stored as one word of 32 bits");

inline constexpr unsigned kMostChunkShift = 30;
using ChunkRuns = BuddyRuns<kMostChunkShift - kRunPageShift>;

// Of all chunks alike.
class ChunkShape {
  public:
    constexpr ChunkShape() = default;
    explicit constexpr ChunkShape(unsigned shift) : shift_(shift) {}

    constexpr std::size_t bytes() const { return std::size_t{1} << shift_; }
    constexpr unsigned order() const { return shift_ - kRunPageShift; }
    constexpr std::uint32_t pages() const { return std::uint32_t{1} << order(); }
    // The longest run of blocks: half of a chunk.
    constexpr std::size_t longest_run() const { return bytes() / 2; }
    bool is_begin(const void *p) const { return reinterpret_cast<std::uintptr_t>(p) % bytes() == 0; }

  private:
    unsigned shift_ = kMostChunkShift;
};

template <class Owner>
class Chunk : public ListNode {
  public:
    // nullptr: the kernel has no more.
    static Chunk *make(const ChunkShape &shape, Owner *owner) {
        void *const memory = platform::map(shape.bytes(), shape.bytes());
        if (memory == nullptr) return nullptr;
        Held::took(shape.bytes());
        return new (memory) Chunk(shape, owner);
    }
    void unmake(const ChunkShape &shape) {
        mark_ = 0;
        Held::gave(shape.bytes());
        platform::unmap(this, shape.bytes());
    }
    // That an address lies in; dies where there is none.
    static Chunk *of(const void *p, const ChunkShape &shape) {
        auto *const chunk = reinterpret_cast<Chunk *>(align_down(reinterpret_cast<std::uintptr_t>(p), shape.bytes()));
        if (chunk->mark_ != chunk->own_mark()) die_of_no_block(p);
        return chunk;
    }

    Owner *owner() const { return owner_; }
    const PageEntry &entry_of(const void *p) const { return map()[page_of(p)]; }
    void *run_of(const PageEntry &entry) { return page(entry.first); }

    // Runs of a power of two of pages; nullptr: there is none so long.
    void *take(unsigned order, PageUse use) {
        const std::uint32_t first = runs_.take(order);
        if (first == ChunkRuns::kNone) return nullptr;
        enter(first, order, use);
        return page(first);
    }
    void put(const PageEntry &entry) {
        const PageEntry run = entry;  // the map's own entry changes
        enter(run.first, run.order, PageUse::free);
        runs_.put(run.first, run.order);
    }
    unsigned above_longest_run() const { return runs_.above_longest(); }
    bool is_empty(const ChunkShape &shape) const { return runs_.free_pages() == shape.pages() - header_pages(shape); }

    // Runs of whole pages that are free or a large block's; what else it has are runs of small regions, which visit draws.
    void draw(auto &picture, auto place, const ChunkShape &shape, auto visit) const {
        const auto at = [this](std::uint32_t i) {
            return reinterpret_cast<const char *>(this) + (std::size_t{i} << kRunPageShift);
        };
        picture.container(this, show::ContainerKind::chunk, 0, 0, shape.bytes());
        picture.stands(this, place);
        runs_.for_each_free([&](std::uint32_t page, unsigned order) {
            picture.range(this, at(page), kRunPageBytes << order);
            picture.inside(at(page), show::Shown::free);
        });
        for (std::uint32_t i = 0; i < shape.pages(); ++i) {
            const PageEntry entry = map()[i];
            if (entry.first != i) continue;
            if (entry.used_for() == PageUse::small) {
                visit(at(i));
                picture.lies_in(at(i), this);
            }
            if (entry.used_for() == PageUse::large) picture.range(this, at(i), kRunPageBytes << entry.order);
        }
    }

    static std::uint32_t header_pages(const ChunkShape &shape) {
        const std::size_t bytes = words_at(shape) + ChunkRuns::words_for(shape.order()) * sizeof(Word);
        return static_cast<std::uint32_t>(divide_up(bytes, kRunPageBytes));
    }

  private:
    Chunk(const ChunkShape &shape, Owner *owner) : owner_(owner), mark_(own_mark()) {
        const std::uint32_t taken = header_pages(shape);
        auto *const words = reinterpret_cast<Word *>(reinterpret_cast<char *>(this) + words_at(shape));
        runs_.start(words, shape.order(), taken);
        enter(0, 0, PageUse::header);
        for (std::uint32_t i = 1; i < taken; ++i) map()[i] = map()[0];
    }

    // Memory that is no chunk is not taken for one.
    std::uintptr_t own_mark() const { return reinterpret_cast<std::uintptr_t>(this) ^ 0x6a656d616c6c6f63; }
    // The header, the map, and the words of the runs' bits.
    static std::size_t words_at(const ChunkShape &shape) {
        return align_up(sizeof(Chunk) + shape.pages() * sizeof(PageEntry), sizeof(Word));
    }
    PageEntry *map() const { return reinterpret_cast<PageEntry *>(const_cast<Chunk *>(this) + 1); }
    char *page(std::uint32_t i) { return reinterpret_cast<char *>(this) + (std::size_t{i} << kRunPageShift); }
    std::uint32_t page_of(const void *p) const {
        const auto offset = static_cast<const char *>(p) - reinterpret_cast<const char *>(this);
        return static_cast<std::uint32_t>(static_cast<std::size_t>(offset) >> kRunPageShift);
    }
    void enter(std::uint32_t first, unsigned order, PageUse use) {
        PageEntry entry;
        entry.use = static_cast<std::uint32_t>(use) & 3;
        entry.order = order & 31;
        entry.first = first & ((1U << 25) - 1);
        for (std::uint32_t i = 0; i < std::uint32_t{1} << order; ++i) map()[first + i] = entry;
    }

    Owner *owner_;
    std::uintptr_t mark_;
    ChunkRuns runs_;
};

// The chunks of an arena. Each with something in use is in the list of its longest free run; a run comes from one whose
// longest is the shortest that does. Of chunks that emptied one stays, the last; the others go back to the kernel.
template <class Owner>
class ChunkSet {
    using OwnersChunk = Chunk<Owner>;

  public:
    // nullptr: no memory.
    void *take(const ChunkShape &shape, Owner *owner, unsigned order, PageUse use) {
        OwnersChunk *chunk = nullptr;
        for (unsigned longest = order; chunk == nullptr && longest < shape.order(); ++longest)
            chunk = lists_[longest + 1].first();
        if (chunk != nullptr) {
            lists_[chunk->above_longest_run()].remove(chunk);
            show::rule("jemalloc 2006, figure 3",
                       "A run of pages is split off a free one of a chunk: the shortest that does.");
        } else {
            show::rule("jemalloc 2006, figure 3",
                       "No chunk of the arena has a free run that is long enough: one more chunk.");
            chunk = std::exchange(spare_, nullptr);
            if (chunk == nullptr) chunk = make(shape, owner);
            if (chunk == nullptr) return nullptr;
        }
        void *const run = chunk->take(order, use);
        lists_[chunk->above_longest_run()].push_front(chunk);
        return run;
    }
    // purge: the kernel gets the run's pages back at once.
    void put(const ChunkShape &shape, OwnersChunk *chunk, const PageEntry &entry, bool purge) {
        if (purge) platform::purge(chunk->run_of(entry), kRunPageBytes << entry.order);
        lists_[chunk->above_longest_run()].remove(chunk);
        chunk->put(entry);
        if (!chunk->is_empty(shape)) return lists_[chunk->above_longest_run()].push_front(chunk);
        give_back_spare(shape);
        spare_ = chunk;
    }
    // false: there was none.
    bool give_back_spare(const ChunkShape &shape) {
        if (spare_ == nullptr) return false;
        --count_;
        std::exchange(spare_, nullptr)->unmake(shape);
        return true;
    }

    void draw(auto &picture, auto place, const ChunkShape &shape, auto visit) const {
        for (const auto &list : lists_)
            list.for_each([&](const OwnersChunk &chunk) { chunk.draw(picture, place, shape, visit); });
        if (spare_ != nullptr) spare_->draw(picture, place, shape, visit);
    }
    // With the spare one; now, and at most.
    std::size_t count() const { return count_; }
    std::size_t most() const { return most_; }

  private:
    OwnersChunk *make(const ChunkShape &shape, Owner *owner) {
        OwnersChunk *const chunk = OwnersChunk::make(shape, owner);
        if (chunk == nullptr) return nullptr;
        most_ = std::max(most_, ++count_);
        return chunk;
    }

    LinkedList<OwnersChunk> lists_[kMostChunkShift - kRunPageShift + 1];  // [order + 1], and [0]: nothing free
    OwnersChunk *spare_ = nullptr;
    std::size_t count_ = 0;
    std::size_t most_ = 0;
};

}  // namespace gr::lab
