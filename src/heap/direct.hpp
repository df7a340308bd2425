// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks mapped directly from the kernel, kept in a lock-free side table: huge ones, and any block in need (a
//    full region, a signal handler that interrupted the heap it would need, before start-up).
// Invariant: an address stands in the table exactly while it is a live direct block; whoever swaps it out frees it. The
//    table is the process's; what a Direct mapped is known to that one only.
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
        // 0: never used, kGone: free again. An address is stored (release) after `bytes`; lookups acquire it.
        std::atomic<std::uintptr_t> address;
        std::atomic<std::size_t> bytes;
        std::atomic<const Direct *> mapper;  // as bytes
    };

    // Everything from now on, and what there is, counts against the limit.
    void count_against(MemoryLimit *limit);
    // Nothing is ever mapped: whoever counts on the region has all blocks there.
    void forbid() { is_forbidden_ = true; }
    bool is_forbidden() const { return is_forbidden_; }
    // For everything from now on.
    void use_huge_pages(HugePolicy policy) { huge_pages_ = policy; }
    // nullptr: no memory. Zeroed.
    void *allocate(std::size_t bytes, std::size_t alignment);
    // false: not a live direct block.
    bool release(void *p);
    // 0: not a live direct block.
    std::size_t size_of(const void *p) const;
    // Moves the pages, not the bytes; nullptr: cannot, the block stands.
    void *resize(void *p, std::size_t bytes);
    // The block stays where it is; false: it cannot, nothing has changed.
    bool resize_in_place(void *p, std::size_t bytes);
    // Every live block; nobody may use one of them any more, nor this.
    void release_all();
    // Every live block, whoever makes and releases others meanwhile: visit(block, bytes), until it says false.
    template <class Visit>
    void for_each(Visit visit) const {
        for (std::size_t i = 0; i < entry_count() && entries() != nullptr; ++i) {
            const Entry &entry = entries()[i];
            const std::uintptr_t address = entry.address.load(std::memory_order_acquire);
            if (address <= kClaimed || entry.mapper.load(std::memory_order_relaxed) != this) continue;
            const std::size_t bytes = entry.bytes.load(std::memory_order_relaxed);
            // acquire: what was read is of that address if it still stands there.
            std::atomic_thread_fence(std::memory_order_acquire);
            if (entry.address.load(std::memory_order_relaxed) != address) continue;
            if (!visit(reinterpret_cast<void *>(address), bytes)) return;
        }
    }

    std::size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    // The most that bytes() ever was.
    std::size_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }
    std::size_t count() const { return count_.load(std::memory_order_relaxed); }

    // Makes the table unless there is one: as large as usual, or as large as a limit on addresses or data has blocks
    // for. false: no memory; tried again with the next block.
    static bool make_table();
    // For who looks from outside.
    static const Entry *entries() { return entries_.load(std::memory_order_acquire); }
    static std::size_t entry_count() { return entry_count_.load(std::memory_order_relaxed); }
    const std::atomic<std::size_t> *count_cell() const { return &count_; }

  private:
    static constexpr std::uintptr_t kGone = 1;
    static constexpr std::uintptr_t kClaimed = 2;
    static constexpr std::size_t kReserve = 1024;  // entries that growth in place leaves to allocation

    // Freed memory that the kernel did not take, at its beginning; tried again with the next block that is freed.
    struct Unreturned {
        std::atomic<Unreturned *> link;
        std::size_t bytes;
    };

    void give_back(void *p, std::size_t bytes);
    // The entry that is i behind the one where the search for an address begins.
    static Entry &entry_of(std::uintptr_t address, std::size_t i);
    // Of a live block that this one mapped, or nullptr.
    Entry *find(std::uintptr_t address) const;
    bool insert(std::uintptr_t address, std::size_t bytes);
    void add(std::size_t bytes);
    void add_bytes(std::size_t bytes);
    void subtract(std::size_t bytes);
    void *map(std::size_t bytes, std::size_t alignment) const;
    bool may_take(std::size_t bytes) { return limit_ == nullptr || limit_->may_take(bytes); }
    void gave(std::size_t bytes) {
        if (limit_ != nullptr) limit_->gave(bytes);
    }

    // One for the process, as the address space is; never moved. Whoever makes it says how long it is before anybody has
    // it: release, with the acquire of its readers.
    static std::atomic<Entry *> entries_;
    static std::atomic<std::size_t> entry_count_;   // a power of two; ordered by entries_
    static std::atomic<std::size_t> used_entries_;  // roughly; ordered by nothing
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
