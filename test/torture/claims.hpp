// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a table beside the heap that says for every 16-byte granule of the address space which actor holds a block
//    there.
// Invariant: a block is claimed after malloc returned it and released before free gets it, so two claims of one
//    granule prove that the allocator gave it out twice.
// Must not know: which threads or signal handlers the owners are.
#pragma once

#include "require.hpp"

#include <sys/mman.h>
#include <atomic>
#include <cerrno>
#include <cstdint>

namespace gr::test {

using Owner = uint8_t;
inline constexpr Owner kNobody = 0;

class Claims {
  public:
    // One byte a granule of the 47-bit user address space; only what is used becomes resident.
    Claims() {
        void *table =
            mmap(nullptr, kGranules, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (table == MAP_FAILED)
            fail("claims: cannot reserve %zu bytes of address space: %s; raise RLIMIT_AS or allow overcommit",
                 kGranules, std::strerror(errno));
        owners_ = static_cast<std::atomic<Owner> *>(table);
    }

    Claims(const Claims &) = delete;
    Claims &operator=(const Claims &) = delete;

    // acq_rel pairs with release(): the next claimant of a granule sees that its last owner let go.
    void claim(const void *block, size_t size, Owner owner) {
        take(first_granule(block), block, size, owner);
        if (last_granule(block, size) != first_granule(block)) take(last_granule(block, size), block, size, owner);
    }

    // Returns the actor that had claimed the block.
    Owner release(const void *block, size_t size) {
        const Owner first = owners_[first_granule(block)].exchange(kNobody, std::memory_order_acq_rel);
        Owner last = first;
        if (last_granule(block, size) != first_granule(block))
            last = owners_[last_granule(block, size)].exchange(kNobody, std::memory_order_acq_rel);
        if (first == kNobody || first != last)
            fail("claims: block %p of %zu bytes is released by its holder, but its ends belong to owners %d and %d",
                 block, size, first, last);
        return first;
    }

    Owner owner(const void *block) const { return owners_[first_granule(block)].load(std::memory_order_relaxed); }

  private:
    static constexpr size_t kGranuleShift = 4;
    static constexpr size_t kGranules = size_t{1} << (47 - kGranuleShift);

    static size_t first_granule(const void *block) { return reinterpret_cast<uintptr_t>(block) >> kGranuleShift; }
    static size_t last_granule(const void *block, size_t size) {
        return (reinterpret_cast<uintptr_t>(block) + size - 1) >> kGranuleShift;
    }

    void take(size_t granule, const void *block, size_t size, Owner owner) {
        const Owner before = owners_[granule].exchange(owner, std::memory_order_acq_rel);
        if (before != kNobody)
            fail("claims: block %p of %zu bytes was given to owner %d while owner %d still holds it", block, size,
                 owner, before);
    }

    std::atomic<Owner> *owners_;
};

}  // namespace gr::test
