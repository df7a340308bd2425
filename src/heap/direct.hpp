// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks mapped directly from the kernel, in a lock-free side table: huge blocks, and any block in need (the
//    region is full, a signal handler interrupted the heap that it needs, or the allocator has not started).
// Invariant: an address stands in the table exactly while it is a live direct block; the thread that swaps the address
//    out frees the block. The table is the process's, but only the Direct that mapped a block finds it.
// Must not know: the region.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/take_all_stack.hpp"
#include "region/huge_pages.hpp"
#include "region/memory_limit.hpp"

namespace gr {

class Direct {
  public:
    struct Entry {
        // 0: never used; kGone: free again; kClaimed: being changed by one thread. An entry goes 0 -> kClaimed ->
        // address -> kGone -> kClaimed and so on, each step by one exchange or store; resize also claims a live entry.
        // The address is stored (release) after `bytes` and `mapper`; lookups acquire it.
        std::atomic<std::uintptr_t> address;
        std::atomic<std::size_t> bytes;
        std::atomic<const Direct *> mapper;  // stored before the address, like bytes
    };

    // All blocks, including those that exist already, count against the limit from now on.
    void count_against(MemoryLimit *limit);
    // No new block is mapped and no block grows from now on: the caller relies on all blocks being in the region.
    void forbid() { is_forbidden_ = true; }
    bool is_forbidden() const { return is_forbidden_; }
    // For all blocks that are mapped from now on.
    void use_huge_pages(HugePolicy policy) { huge_pages_ = policy; }
    // Returns zeroed memory. nullptr: no memory.
    void *allocate(std::size_t bytes, std::size_t alignment);
    // false: not a live direct block.
    bool release(void *p);
    // 0: not a live direct block.
    std::size_t size_of(const void *p) const;
    // Moves the pages and copies no bytes. nullptr: not possible, and the block is unchanged.
    void *resize(void *p, std::size_t bytes);
    // The block stays where it is. false: not possible, and nothing has changed.
    bool resize_in_place(void *p, std::size_t bytes);
    // Releases every live block. No thread may use one of them, or this object, any more.
    void release_all();
    // Calls visit(block, bytes) for every live block, until it returns false. Other threads may allocate and release
    // blocks meanwhile.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t i = 0; i < entry_count() && entries() != nullptr; ++i) {
            const Entry &entry = entries()[i];
            const std::uintptr_t address = entry.address.load(std::memory_order_acquire);
            if (address <= kClaimed || entry.mapper.load(std::memory_order_relaxed) != this) continue;
            const std::size_t bytes = entry.bytes.load(std::memory_order_relaxed);
            // acquire: if the address still stands there, the mapper and the bytes that were read belong to it.
            std::atomic_thread_fence(std::memory_order_acquire);
            if (entry.address.load(std::memory_order_relaxed) != address) continue;
            if (!visit(reinterpret_cast<void *>(address), bytes)) return;
        }
    }

    std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    // The most that bytes() ever was.
    std::size_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }
    std::size_t count() const { return count_.load(std::memory_order_relaxed); }

    // A limit on addresses or data makes the table smaller. Called at the start, since later a sandbox may forbid to ask
    // for limits.
    static void decide_entry_count();
    // Makes the table unless there is one. false: no memory. The first block makes it, too: most programs have none.
    static bool make_table();
    // For code that reads the table from outside.
    static const Entry *entries() { return entries_.load(std::memory_order_acquire); }
    static std::size_t entry_count() { return entry_count_.load(std::memory_order_relaxed); }
    static const std::atomic<Entry *> *entries_cell() { return &entries_; }
    static const std::atomic<std::size_t> *entry_count_cell() { return &entry_count_; }
    const std::atomic<std::size_t> *count_cell() const { return &count_; }

  private:
    static constexpr std::uintptr_t kGone = 1;
    static constexpr std::uintptr_t kClaimed = 2;
    static constexpr std::size_t kReserve = 1024;  // entries that growth in place leaves to allocation

    // Freed memory that the kernel did not take; this stands at its beginning. The next release of a block tries again.
    struct Unreturned {
        std::atomic<Unreturned *> link;
        std::size_t bytes;
    };

    void give_back(void *p, std::size_t bytes);
    // The entry that is i places behind the one where the search for the address begins.
    static Entry &entry_of(std::uintptr_t address, std::size_t i);
    // The entry of a live block that this object mapped, or nullptr.
    Entry *find(std::uintptr_t address) const;
    bool insert(std::uintptr_t address, std::size_t bytes);
    void add(std::size_t bytes);
    void add_bytes(std::size_t bytes);
    void subtract(std::size_t bytes);
    void *map(std::size_t bytes, std::size_t alignment) const;
    bool may_take(std::size_t bytes) { return !is_forbidden_ && (limit_ == nullptr || limit_->may_take(bytes)); }
    void gave(std::size_t bytes) {
        if (limit_ != nullptr) limit_->gave(bytes);
    }

    // One table for the process, because it has one address space; never moved. entry_count_ is stored before the
    // table: the release store of entries_ pairs with the acquire of its readers.
    static std::atomic<Entry *> entries_;
    static std::atomic<std::size_t> entry_count_;   // a power of two; ordered by entries_
    static std::atomic<std::size_t> used_entries_;  // approximate; ordered by nothing
    TakeAllStack<Unreturned> unreturned_;
    MemoryLimit *limit_ = nullptr;                   // set at start-up, by the thread that starts
    HugePolicy huge_pages_ = HugePolicy::automatic;  // as limit_
    bool is_forbidden_ = false;                      // as limit_
    // Statistics; ordered by nothing.
    std::atomic<std::size_t> bytes_{0};
    std::atomic<std::size_t> peak_bytes_{0};
    std::atomic<std::size_t> count_{0};
};

}  // namespace gr
