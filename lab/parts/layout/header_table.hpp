// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: containers whose headers lie apart, found in a table by page (Streamflow's BIBOP; Wasik 4.5).
// Invariant: each unit of addresses that has a container has its header in the table; what was entered stays, but for
//    large blocks. Entries are read without a lock: a block is handed out after its header was entered.
// Must not know: what lies in containers, and which heap has them.
#pragma once

#include <atomic>
#include <new>

#include "parts/layout/container_sizes.hpp"
#include "parts/lists/lock_free_stack.hpp"

namespace gr::lab {

// Two levels, for 48 bits of addresses in units.
class UnitTable {
  public:
    Container *find(const void *p) const {
        const std::uintptr_t unit = reinterpret_cast<std::uintptr_t>(p) >> kUnitShift;
        if (unit >> (2 * kLeafBits) != 0) return nullptr;
        const Leaf *const leaf = leaves_[unit >> kLeafBits].load(std::memory_order_acquire);  // pairs with enter
        return leaf == nullptr ? nullptr : leaf->units[unit & low_bits(kLeafBits)].load(std::memory_order_relaxed);
    }
    // false: no memory.
    bool enter(const void *p, Container *container) {
        const std::uintptr_t unit = reinterpret_cast<std::uintptr_t>(p) >> kUnitShift;
        if (unit >> (2 * kLeafBits) != 0) return false;
        std::atomic<Leaf *> &place = leaves_[unit >> kLeafBits];
        Leaf *leaf = place.load(std::memory_order_acquire);
        if (leaf == nullptr) {
            auto *const made = static_cast<Leaf *>(platform::map(sizeof(Leaf), 1));
            if (made == nullptr) return false;
            // release: the leaf's zeroes; acquire on failure: the leaf of the thread that was faster.
            if (place.compare_exchange_strong(leaf, made, std::memory_order_acq_rel)) {
                leaf = made;
            } else {
                platform::unmap(made, sizeof(Leaf));
            }
        }
        leaf->units[unit & low_bits(kLeafBits)].store(container, std::memory_order_relaxed);
        return true;
    }

  private:
    static constexpr unsigned kLeafBits = 16;
    struct Leaf {
        std::atomic<Container *> units[std::size_t{1} << kLeafBits];
    };
    std::atomic<Leaf *> leaves_[std::size_t{1} << kLeafBits]{};
};

class TabledContainers : public FixedContainers<kUnitBytes> {
    using Fixed = FixedContainers<kUnitBytes>;
    // Of the process: the face has one allocator.
    static inline constinit UnitTable table;

  public:
    static constexpr std::size_t kLargestBlock = kUnitBytes / 2;

    static Container *container_of(const void *p) {
        Container *const container = table.find(p);
        if (container == nullptr) die_of_no_block(p);
        return container;
    }
    Container *make(unsigned) {
        char *const place = wilderness_.extend(kUnitBytes, kUnitBytes);
        Container *const header = place == nullptr ? nullptr : take_header();
        if (header == nullptr) return nullptr;
        new (header) Container(place, kUnitBytes);
        show::made(header, kUnitBytes);
        return table.enter(place, header) ? header : nullptr;
    }

    // A large block has its header before it; in the table are the unit of that and of the address that the program has.
    struct LargeBlocks {
        static void *allocate(std::size_t size, std::size_t alignment) {
            void *const p = Fixed::LargeBlocks::allocate(size, alignment);
            if (p == nullptr) return nullptr;
            Container *const header = Fixed::container_of(p);
            if (table.enter(header, header) && table.enter(p, header)) return p;
            free(header);
            return nullptr;
        }
        static void free(Container *header) {
            // That of an address of a larger alignment is the next.
            char *const begin = reinterpret_cast<char *>(header);
            for (char *const p : {begin, begin + kUnitBytes})
                if (table.find(p) == header) static_cast<void>(table.enter(p, nullptr));
            Fixed::LargeBlocks::free(header);
        }
    };

  private:
    static constexpr std::size_t kHeadersBytes = 4 * kKiB;

    // Of a page of headers the others wait for their turn.
    Container *take_header() {
        if (Container *const spare = spare_headers_.pop()) return spare;
        char *const page = wilderness_.extend(kHeadersBytes, kHeadersBytes);
        if (page == nullptr) return nullptr;
        for (std::size_t at = sizeof(Container); at + sizeof(Container) <= kHeadersBytes; at += sizeof(Container))
            spare_headers_.push(new (page + at) Container(nullptr, 0));
        return reinterpret_cast<Container *>(page);
    }

    LockFreeStack<Container, kCacheLineBytes> spare_headers_;
};

}  // namespace gr::lab
