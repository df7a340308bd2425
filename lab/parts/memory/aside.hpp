// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks for signal handlers that interrupted the allocator: no paper's allocator can be entered a second time by
//    a thread that is in it, so what such a handler asks for comes from here.
// Invariant: no lock; whatever instruction was interrupted, a handler's call here ends. All blocks lie in one
//    reservation that is made for the first of them, so an address tells whether it is one.
// Must not know: the allocator, and which thread is in it.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "base/bits.hpp"
#include "base/config.hpp"
#include "parts/contract/allocator.hpp"
#include "parts/lists/lock_free_stack.hpp"
#include "parts/memory/misuse.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"

namespace gr::lab {

class Aside {
  public:
    bool owns(const void *p) const {
        // relaxed: a block comes by way of the thread that got it, which saw the reservation.
        const std::uintptr_t begin = begin_.load(std::memory_order_relaxed);
        return reinterpret_cast<std::uintptr_t>(p) - begin < bytes_.load(std::memory_order_relaxed);
    }

    // nullptr: no memory, or more bytes than kLargest, which is enough for a signal handler.
    void *allocate(std::size_t size, std::size_t alignment) {
        if (size > kLargest || alignment > kLargest) return nullptr;
        const std::size_t slack = alignment > kAlignment ? alignment : 0;
        const std::size_t bytes = std::bit_ceil(std::max(size + sizeof(Head) + slack, kLeast));
        if (bytes > kLargest) return nullptr;
        const auto kind = static_cast<unsigned>(std::countr_zero(bytes / kLeast));
        Block *block = free_[kind].pop();
        if (block == nullptr) block = carve(kind);
        if (block == nullptr) return nullptr;
        const auto first = reinterpret_cast<std::uintptr_t>(block) + sizeof(Head);
        void *const p = reinterpret_cast<void *>(align_up(first, std::max(alignment, kAlignment)));
        *head_of(p) = {block, kind, kInUse};
        return p;
    }

    std::size_t usable_size(const void *p) const {
        const Head *const head = checked(p);
        return static_cast<std::size_t>(reinterpret_cast<const char *>(head->block) + (kLeast << head->kind) -
                                        static_cast<const char *>(p));
    }

    void free(void *p) {
        Head *const head = checked(p);
        const unsigned kind = head->kind;
        Block *const block = head->block;
        head->state = kFree;
        if (const std::size_t bytes = kLeast << kind; bytes > kPiece)
            platform::purge(reinterpret_cast<char *>(block) + kPiece, bytes - kPiece);
        free_[kind].push(block);
    }

  private:
    struct Block {
        std::atomic<Block *> below;
    };
    // In front of each block that is in use.
    struct Head {
        Block *block;
        std::uint32_t kind;
        std::uint32_t state;
    };
    static_assert(sizeof(Head) == kAlignment && sizeof(Block) <= offsetof(Head, kind),
                  "a head keeps the alignment, and a free block lies before its kind");

    static constexpr std::size_t kLeast = 64;
    static constexpr std::size_t kLargest = 128 * kMiB;
    static constexpr std::size_t kPiece = 64 * kKiB;  // small blocks are cut from; of a free large one so much stays
    static constexpr std::size_t kReservation = 64 * kGiB;
    static constexpr std::size_t kPartsOfLimit = 8;  // of a limit on addresses it takes one
    static constexpr unsigned kKinds = std::countr_zero(kLargest / kLeast) + 1;
    static constexpr std::uint32_t kInUse = 0xa51d0a11;
    static constexpr std::uint32_t kFree = 0xa51df4ee;
    static constexpr std::uintptr_t kNowhere = std::uintptr_t{1} << 63;

    static Head *head_of(const void *p) {
        return reinterpret_cast<Head *>(reinterpret_cast<std::uintptr_t>(p) - sizeof(Head));
    }
    static Head *checked(const void *p) {
        if (reinterpret_cast<std::uintptr_t>(p) % kAlignment != 0 || head_of(p)->state != kInUse) die_of_no_block(p);
        return head_of(p);
    }

    // A block, and where it is small its neighbours to the stack.
    Block *carve(unsigned kind) {
        // acquire: pairs with the release in reserve; the bytes are there.
        if (begin_.load(std::memory_order_acquire) == kNowhere && !reserve()) return nullptr;
        const std::size_t bytes = kLeast << kind;
        const std::size_t piece = std::max(bytes, kPiece);
        const std::size_t at = taken_.fetch_add(piece, std::memory_order_relaxed);
        if (at + piece > bytes_.load(std::memory_order_relaxed)) {
            taken_.fetch_sub(piece, std::memory_order_relaxed);
            return nullptr;
        }
        char *const begin = reinterpret_cast<char *>(begin_.load(std::memory_order_relaxed)) + at;
        if (!platform::commit(begin, piece)) return nullptr;
        for (std::size_t next = bytes; next < piece; next += bytes)
            free_[kind].push(reinterpret_cast<Block *>(begin + next));
        return reinterpret_cast<Block *>(begin);
    }

    bool reserve() {
        const std::size_t most = platform::address_space_limit() / kPartsOfLimit;
        const std::size_t bytes = align_down(std::min(most, kReservation), kPiece);
        void *const place = platform::reserve(bytes);
        if (place == nullptr) return false;
        bytes_.store(bytes, std::memory_order_relaxed);  // every thread that comes here stores the same
        std::uintptr_t nowhere = kNowhere;
        if (!begin_.compare_exchange_strong(nowhere, reinterpret_cast<std::uintptr_t>(place),
                                            std::memory_order_acq_rel))
            platform::unmap(place, bytes);
        return true;
    }

    std::atomic<std::uintptr_t> begin_{kNowhere};
    std::atomic<std::size_t> bytes_{0};
    std::atomic<std::size_t> taken_{0};
    LockFreeStack<Block, kLeast> free_[kKinds];
};

}  // namespace gr::lab
