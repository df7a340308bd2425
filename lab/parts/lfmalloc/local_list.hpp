// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: LFMalloc's superblock (3.2.2): a container with a local free list that one commit changes, and a remote one
//    under a lock.
// Invariant: blocks = in use + local + remote + never taken. The local list, linked through its blocks, is described by
//    one word: what a sequence stores last. Its functions do what the sequences do, for a thread that is alone with the
//    list. A superblock's header stays mapped for ever, and stays a superblock's header.
// Must not know: heaps, and when a superblock goes online.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>

#include "parts/layout/container.hpp"
#include "parts/lists/lock.hpp"

namespace gr::lab {

inline constexpr std::size_t kSuperblockBytes = 64 * kKiB;
inline constexpr std::size_t kSuperblockHeaderBytes = 256;

// A block's place in its superblock, in steps of kAlignment. 0, where the header is: none.
struct LocalWord {
    std::uint16_t first = 0;
    std::uint16_t count = 0;
    std::uint32_t fresh = 0;  // so many were ever taken

    static LocalWord of(std::uint64_t word) { return std::bit_cast<LocalWord>(word); }
    std::uint64_t word() const { return std::bit_cast<std::uint64_t>(*this); }
};

// The assembly knows the offsets.
struct alignas(kCacheLineBytes) LocalList {
    std::atomic<std::uint64_t> word{0};  // relaxed: one CPU's alone, or its holder's by way of a lock
    std::uint32_t block_bytes = 0;
    std::uint32_t blocks = 0;
    std::uint32_t bin = 0;

    char *begin() {
        return reinterpret_cast<char *>(align_down(reinterpret_cast<std::uintptr_t>(this), kSuperblockBytes));
    }
    LocalWord state() const { return LocalWord::of(word.load(std::memory_order_relaxed)); }
    bool has_room() const { return state().first != 0 || state().fresh < blocks; }

    // nullptr: none is free.
    void *pop() {
        LocalWord s = state();
        void *block = nullptr;
        if (s.first != 0) {
            auto *const first = reinterpret_cast<std::uint16_t *>(begin() + s.first * kAlignment);
            block = first;
            s.first = *first;
            --s.count;
        } else if (s.fresh < blocks) {
            block = begin() + kSuperblockHeaderBytes + std::size_t{s.fresh} * block_bytes;
            ++s.fresh;
        }
        word.store(s.word(), std::memory_order_relaxed);
        return block;
    }
    void push(void *block) {
        LocalWord s = state();
        *static_cast<std::uint16_t *>(block) = s.first;
        s.first = place_of(block);
        ++s.count;
        word.store(s.word(), std::memory_order_relaxed);
    }
    // From the block that comes next.
    void for_each(auto visit) const {
        const char *const begin_of_all =
            reinterpret_cast<const char *>(align_down(reinterpret_cast<std::uintptr_t>(this), kSuperblockBytes));
        for (std::uint16_t at = state().first; at != 0;) {
            const char *const block = begin_of_all + at * kAlignment;
            visit(block);
            at = *reinterpret_cast<const std::uint16_t *>(block);
        }
    }
    static std::uint16_t place_of(const void *block) {
        return static_cast<std::uint16_t>(reinterpret_cast<std::uintptr_t>(block) % kSuperblockBytes / kAlignment);
    }
};
static_assert(offsetof(LocalList, word) == 0 && offsetof(LocalList, block_bytes) == 8,
              "the sequences load these fields at these offsets");
static_assert(offsetof(LocalList, blocks) == 12 && offsetof(LocalList, bin) == 16,
              "the sequences load these fields at these offsets");

// Its container's `free` is the remote list; `used`, `fresh` and `heap` are not used.
struct Superblock : Container {
    // What is in a list of the global heap, and in which. Full: not roomy, in none. Written under its lock and the
    // superblock's, read under either.
    enum class State : std::uint8_t { online, roomy, full, empty, destroyed };

    LocalList local;
    Lock<Rank::worklist> lock;
    State state = State::online;
    Superblock *made_before = nullptr;  // the list of all

    Superblock()
        : Container(reinterpret_cast<char *>(this) + kSuperblockHeaderBytes,
                    kSuperblockBytes - kSuperblockHeaderBytes) {}

    static Superblock *of(LocalList *list) {
        return list == nullptr ? nullptr : reinterpret_cast<Superblock *>(list->begin());
    }
    // While no block is in use.
    void format_superblock(unsigned new_bin, std::size_t size) {
        format(new_bin, size);
        local.word.store(0, std::memory_order_relaxed);
        local.block_bytes = block_bytes;
        local.blocks = blocks;
        local.bin = bin;
    }
    // With the lock held. Of one that is online it is out of date at once, yet above 0 while a block of the caller's is
    // in use.
    std::size_t in_use() const { return local.state().fresh - local.state().count - free.count(); }
    // A block of the remote list was freed by another CPU, or while the superblock was offline.
    void draw(auto &picture) const {
        picture.container(this, show::ContainerKind::superblock, local.block_bytes, local.blocks, kSuperblockBytes);
        picture.lock_of(this, &lock);
        for (std::uint32_t i = 0; i < local.state().fresh; ++i)
            picture.block(this, i, first_block + std::size_t{i} * local.block_bytes, local.block_bytes);
        local.for_each([&](const void *block) { picture.inside(block, show::Shown::free); });
        free.for_each([&](const void *block) { picture.inside(block, show::Shown::remote); });
    }
    void merge() {
        while (void *const block = free.pop()) local.push(block);
    }
    // Of a block that the program gave back: if it lies on top, or nothing can be in use, it is free already. Its own
    // being in use keeps both from being true, whatever others do.
    void check_in_use(const void *block) const {
        const LocalWord s = local.state();
        if (s.first == LocalList::place_of(block) || s.count >= s.fresh) die_of_no_block(block);
    }
};
static_assert(sizeof(Superblock) <= kSuperblockHeaderBytes && kSuperblockHeaderBytes % kAlignment == 0,
              "the sequences find blocks behind the header");

}  // namespace gr::lab
