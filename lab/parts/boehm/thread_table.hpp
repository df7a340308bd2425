// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: data of each thread, found without help from the compiler or the thread library (Boehm 002, Thread-specific
//    data): a hash table of threads, and before it a cache that is indexed by a quick id of the thread.
// Invariant: of two threads that live at once, one never has the other's entry, if the quick id stays with its thread.
//    An entry is in the chain of its thread, or idle; its memory stays an entry for ever. So a reader needs no lock:
//    an entry that names the caller is the caller's, and a walk that another thread's change leads astray finds
//    nothing.
// Must not know: what the data is.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <new>
#include <type_traits>

#include "parts/lists/lock.hpp"
#include "parts/memory/wilderness.hpp"
#include "platform/process.hpp"
#include "platform/thread.hpp"

namespace gr::lab {

// What tells a thread from all others at this moment. Not zero.
template <class Q>
concept QuickThreadId = requires {
    { Q::of_caller() } -> std::same_as<std::uintptr_t>;
    // Whether no other thread can have this one's id while this one lives.
    { Q::kStaysWithThread } -> std::convertible_to<bool>;
};

// The paper's: the upper bits of the stack pointer. True as long as each thread keeps to a stack of its own. A stack
// that goes from one living thread to another (a coroutine's, or one for signals) brings the first one's entry with it.
struct StackPage {
    static constexpr bool kStaysWithThread = false;
    static std::uintptr_t of_caller() {
        return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) & ~(Wilderness::kPage - 1);
    }
};

// Where a register points to the thread's own memory, which today's calling conventions reserve.
struct ThreadPointer {
    static constexpr bool kStaysWithThread = true;
    static std::uintptr_t of_caller() { return platform::thread_pointer(); }
};

template <class Value, QuickThreadId Quick>
class ThreadTable {
  public:
    // The calling thread's; nullptr: it has none.
    Value *find() {
        const std::uintptr_t quick = Quick::of_caller();
        // acquire: pairs with find_in_chain; the entry is complete.
        Entry *const entry = cache_[page_of(quick) % kCacheEntries].load(std::memory_order_acquire);
        if (entry != nullptr && entry->quick.load(std::memory_order_relaxed) == quick) [[likely]]
            return &entry->value;
        return find_in_chain(quick);
    }
    // The calling thread's, new where it has none; nullptr: no memory.
    Value *add() {
        const std::lock_guard held(lock_);
        if (Value *const known = find()) return known;  // no thread changes a chain now, so the walk misses nothing
        Entry *const entry = take_idle();
        if (entry == nullptr) return nullptr;
        const std::uintptr_t thread = platform::thread_pointer();
        entry->thread.store(thread, std::memory_order_relaxed);
        std::atomic<Entry *> *const chain = chain_of(thread);
        entry->next.store(chain->load(std::memory_order_relaxed), std::memory_order_release);  // as in keep
        chain->store(entry, std::memory_order_release);  // pairs with find_in_chain
        return &entry->value;
    }
    // The calling thread wants its own no more. Calls leave(value) before, if it has one.
    void remove(auto leave) {
        const std::lock_guard held(lock_);
        if (Value *const own = find()) leave(*own);
        const std::uintptr_t mine = platform::thread_pointer();
        remove_from(chain_of(mine), [mine](std::uintptr_t thread) { return thread == mine; });
    }

    // Each thread's, while no thread comes or goes.
    void draw(auto &picture) const {
        const auto table = picture.place(picture.top(), show::PlaceKind::list, picture.words("threads"),
                                         picture.words("the table of threads"));
        picture.lock(table, &lock_);
        for (const std::atomic<Entry *> &chain : chains_) {
            for (const Entry *e = chain.load(std::memory_order_relaxed); e != nullptr; e = after(e)) {
                const auto own =
                    picture.place(picture.top(), show::PlaceKind::heap, picture.words("lists.", picture.nth(e)),
                                  picture.words("lists of a thread"));
                if (e->thread.load(std::memory_order_relaxed) == platform::thread_pointer()) picture.is_callers(own);
                e->value.draw(picture, own);
            }
        }
    }
    // For fork. In the child the other threads are gone, maybe amid a change of their data.
    void lock() {
        lock_.lock();
        process_ = platform::process_id();
    }
    void unlock() {
        if (platform::process_id() != process_) {
            const std::uintptr_t mine = platform::thread_pointer();
            for (std::atomic<Entry *> &chain : chains_)
                remove_from(&chain, [mine](std::uintptr_t thread) { return thread != mine; });
        }
        lock_.unlock();
    }

    // For tests. An entry in a chain has that chain's thread, an idle one has none; none is lost.
    bool is_valid() {
        const std::lock_guard held(lock_);
        std::size_t met = 0;
        for (std::size_t i = 0; i < kChains; ++i)
            for (Entry *e = chains_[i].load(std::memory_order_relaxed); e != nullptr; e = after(e), ++met)
                if (!e->is_used() || chain_of(e->thread.load(std::memory_order_relaxed)) != &chains_[i]) return false;
        for (Entry *e = idle_; e != nullptr; e = after(e), ++met)
            if (e->is_used() || e->quick.load(std::memory_order_relaxed) != 0) return false;
        return met == made_;
    }
    std::size_t made() const { return made_; }

  private:
    struct alignas(kCacheLineBytes) Entry {
        std::atomic<std::uintptr_t> thread{0};  // its thread pointer; 0: idle. Ordered by what leads to the entry
        std::atomic<std::uintptr_t> quick{0};   // under which the cache may give it; 0: none. Only its thread sets it
        std::atomic<Entry *> next{nullptr};     // of its chain, or of the idle ones
        Value value;

        bool is_used() const { return thread.load(std::memory_order_relaxed) != 0; }
    };
    static constexpr std::size_t kCacheEntries = 1024;
    static constexpr std::size_t kChains = 256;
    static_assert(sizeof(Entry) <= Wilderness::kPage && std::is_trivially_destructible_v<Entry>,
                  "entries are cut from a page and used again");

    // Stacks and what lies on top of them begin at pages.
    static std::size_t page_of(std::uintptr_t address) { return address / Wilderness::kPage; }
    std::atomic<Entry *> *chain_of(std::uintptr_t thread) { return &chains_[page_of(thread) % kChains]; }
    static Entry *after(const Entry *entry) { return entry->next.load(std::memory_order_relaxed); }

    [[gnu::noinline]] Value *find_in_chain(std::uintptr_t quick) {
        const std::uintptr_t thread = platform::thread_pointer();
        Entry *entry = chain_of(thread)->load(std::memory_order_acquire);  // pairs with add
        while (entry != nullptr && entry->thread.load(std::memory_order_relaxed) != thread)
            entry = entry->next.load(std::memory_order_acquire);  // pairs with remove_from
        if (entry == nullptr) return nullptr;
        entry->quick.store(quick, std::memory_order_relaxed);
        cache_[page_of(quick) % kCacheEntries].store(entry, std::memory_order_release);  // pairs with find
        return &entry->value;
    }
    // The lock is held. nullptr: no memory.
    Entry *take_idle() {
        if (idle_ == nullptr) make_some();
        Entry *const entry = idle_;
        if (entry != nullptr) idle_ = after(entry);
        return entry;
    }
    void make_some() {
        char *const page = wilderness_.extend(Wilderness::kPage, Wilderness::kPage);
        if (page == nullptr) return;
        for (std::size_t at = 0; at + sizeof(Entry) <= Wilderness::kPage; at += sizeof(Entry), ++made_)
            keep(new (page + at) Entry());
    }
    void keep(Entry *entry) {
        entry->next.store(idle_, std::memory_order_release);  // pairs with find_in_chain, which may be led here
        idle_ = entry;
    }
    // The lock is held. Those whose thread is meant; their data begins anew.
    void remove_from(std::atomic<Entry *> *chain, auto is_meant) {
        for (std::atomic<Entry *> *place = chain; Entry *const entry = place->load(std::memory_order_relaxed);) {
            if (!is_meant(entry->thread.load(std::memory_order_relaxed))) {
                place = &entry->next;
                continue;
            }
            place->store(after(entry), std::memory_order_release);  // pairs with find_in_chain
            entry->thread.store(0, std::memory_order_relaxed);
            entry->quick.store(0, std::memory_order_relaxed);
            entry->value = Value();
            keep(entry);
        }
    }

    Lock<Rank::instances> lock_;
    std::atomic<Entry *> cache_[kCacheEntries]{};
    std::atomic<Entry *> chains_[kChains]{};
    Entry *idle_ = nullptr;
    std::size_t made_ = 0;
    unsigned process_ = 0;  // that took the lock for fork
    Wilderness wilderness_;
};

}  // namespace gr::lab
