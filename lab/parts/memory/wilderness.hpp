// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: memory that was never used, as sbrk gives it: it only grows; and how much was taken from the kernel, there and
//    elsewhere.
// Invariant: a piece is handed out once, zeroed; the word names the first page that was not handed out and how many
//    follow it. No lock: one compare-and-swap takes a piece.
// Must not know: what the memory is for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/bits.hpp"
#include "base/config.hpp"
#include "parts/contract/shown.hpp"
#include "platform/events.hpp"
#include "platform/memory.hpp"

namespace gr::lab {

// How many bytes an allocator has taken of the kernel for blocks (Hoard 5.4's A): of the wilderness what was handed out,
// mappings of one block, and chunks. What was purged still counts; tables that are mapped apart do not.
class Held {
  public:
    // relaxed: a count alone; nothing is read by it.
    static void took(std::size_t bytes) {
        bytes_.fetch_add(bytes, std::memory_order_relaxed);
        show::kernel(static_cast<std::ptrdiff_t>(bytes));
    }
    static void gave(std::size_t bytes) {
        bytes_.fetch_sub(bytes, std::memory_order_relaxed);
        show::kernel(-static_cast<std::ptrdiff_t>(bytes));
    }
    static std::size_t bytes() { return bytes_.load(std::memory_order_relaxed); }

  private:
    static inline constinit std::atomic<std::size_t> bytes_{0};
};

class Wilderness {
  public:
    static constexpr std::size_t kPage = 4 * kKiB;

    // Whole pages at a multiple of a power of two, of a page at least; nullptr: the kernel refused.
    char *extend(std::size_t bytes, std::size_t alignment) {
        bytes = align_up(bytes, kPage);
        // acquire: pairs with the release of the thread that mapped the rest, which holds only the kernel's zeroes.
        Rest rest = unpack(word_.load(std::memory_order_acquire));
        for (;;) {
            const std::uintptr_t piece = align_up(rest.begin, alignment);
            if (piece + bytes > rest.begin + rest.bytes) {
                if (!map_more(rest, bytes, alignment)) return nullptr;
                rest = unpack(word_.load(std::memory_order_acquire));
                continue;
            }
            if (!replace(&rest, {piece + bytes, rest.begin + rest.bytes - piece - bytes})) continue;
            Held::took(bytes);
            return reinterpret_cast<char *>(piece);
        }
    }

  private:
    struct Rest {
        std::uintptr_t begin = 0;
        std::size_t bytes = 0;
    };
    static constexpr std::size_t kStep = kMiB;  // asked of the kernel at once
    static constexpr unsigned kPageShift = 12;
    static constexpr unsigned kCountBits = 28;

    static Rest unpack(std::uint64_t word) {
        return {(word >> kCountBits) << kPageShift, (word & low_bits(kCountBits)) << kPageShift};
    }
    static std::uint64_t pack(Rest rest) { return rest.begin >> kPageShift << kCountBits | rest.bytes >> kPageShift; }

    bool replace(Rest *expected, Rest desired) {
        std::uint64_t word = pack(*expected);
        platform::count(platform::Event::atomic_operation);
        if (word_.compare_exchange_strong(word, pack(desired), std::memory_order_acq_rel)) return true;
        *expected = unpack(word);
        return false;
    }
    // The end of the old rest, less than a piece, is lost. If another thread was faster, the new mapping is unmapped.
    bool map_more(Rest rest, std::size_t bytes, std::size_t alignment) {
        if (bytes > low_bits(kCountBits) << kPageShift) return false;
        for (const std::size_t wanted : {align_up(bytes, kStep), bytes}) {
            void *const more = platform::map(wanted, alignment);
            if (more == nullptr) continue;
            if (!replace(&rest, {reinterpret_cast<std::uintptr_t>(more), wanted})) platform::unmap(more, wanted);
            return true;
        }
        return false;
    }

    std::atomic<std::uint64_t> word_{0};
};

}  // namespace gr::lab
