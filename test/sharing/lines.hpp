// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a table beside the heap: for each cache line, how many live blocks malloc handed to each processor in it.
// Invariant: one atomic addition per line tells the processors that had live blocks there at that very moment, so no
//    sharing is missed and none is counted twice.
// Must not know: threads, or what is done with the blocks.
#pragma once

#include <sys/mman.h>

#include <atomic>

#include "require.hpp"

namespace gr::test {

class Lines {
  public:
    static constexpr size_t kLine = 64;
    static constexpr size_t kProcessors = 8;  // one byte of a line's word for each

    Lines() {
        void *table = mmap(nullptr, kLines * sizeof(Word), PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (table == MAP_FAILED)
            fail("lines: cannot reserve %zu bytes of address space: %s; raise RLIMIT_AS or allow overcommit",
                 kLines * sizeof(Word), std::strerror(errno));
        words_ = static_cast<Word *>(table);
    }
    Lines(const Lines &) = delete;
    Lines &operator=(const Lines &) = delete;

    // Call after malloc. Returns how many of the block's lines hold live blocks of another processor.
    size_t hand_out(const void *block, size_t size, size_t processor) {
        size_t shared = 0;
        for (size_t line = first(block); line <= last(block, size); ++line) {
            const uint64_t before = words_[line].fetch_add(one(processor), std::memory_order_relaxed);
            shared += (before & ~(one(processor) * 0xff)) != 0 ? 1 : 0;
        }
        return shared;
    }

    // Call before free, in whichever thread, with the processor that the block was handed to.
    void take_back(const void *block, size_t size, size_t processor) {
        for (size_t line = first(block); line <= last(block, size); ++line)
            words_[line].fetch_sub(one(processor), std::memory_order_relaxed);
    }

  private:
    using Word = std::atomic<uint64_t>;
    static constexpr size_t kLines = (size_t{1} << 47) / kLine;

    static uint64_t one(size_t processor) { return uint64_t{1} << 8 * processor; }
    static size_t first(const void *block) { return reinterpret_cast<uintptr_t>(block) / kLine; }
    static size_t last(const void *block, size_t size) {
        return (reinterpret_cast<uintptr_t>(block) + size - 1) / kLine;
    }

    Word *words_;
};

}  // namespace gr::test
