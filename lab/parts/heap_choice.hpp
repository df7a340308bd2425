// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which heap a thread works on (Wasik 3.1.1): the only one; its own, taken over from a thread that ended; or
//       one
//       that nobody is in.
// Invariant: enter(heap) returns with the heap's lock held. A thread that has ended has no heap between two calls.
// Must not know: what a heap holds.
#pragma once

#include <concepts>

#include "parts/heap_table.hpp"
#include "parts/lock.hpp"
#include "parts/lock_free_list.hpp"
#include "parts/thread_end.hpp"

namespace gr::lab {

template <class C, class Heap>
concept HeapChoice = requires(C choice, Heap *heap, HeapNumber number, unsigned bin) {
    // The calling thread's; nullptr: no memory.
    { choice.mine() } -> std::same_as<Heap *>;
    // nullptr: it has none yet.
    { choice.mine_if_any() } -> std::same_as<Heap *>;
    // Of a call: the heap to work on and its lock.
    { choice.enter(heap, bin) } -> std::same_as<Heap *>;
    { choice.leave(heap, bin) } -> std::same_as<void>;
    // At the end of each call.
    { choice.done() } -> std::same_as<void>;
    { choice.of(number) } -> std::same_as<Heap *>;
    { choice.thread_ends() } -> std::same_as<void>;
    { choice.lock() } -> std::same_as<void>;
    { choice.unlock() } -> std::same_as<void>;
};

// One for all.
template <class Heap>
class SingleHeap {
  public:
    constexpr SingleHeap() = default;

    Heap *mine() { return &heap_; }
    Heap *mine_if_any() { return &heap_; }
    Heap *enter(Heap *heap, unsigned bin) {
        heap->lock_of(bin).lock();
        return heap;
    }
    void leave(Heap *heap, unsigned bin) { heap->lock_of(bin).unlock(); }
    void done() {}
    Heap *of(HeapNumber) { return &heap_; }
    void thread_ends() {}
    template <class Visit>
    void for_each(Visit visit) {
        visit(heap_);
    }
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

  private:
    Lock<Rank::instances> lock_;  // of who takes all locks of the heap, at a fork
    Heap heap_;
};

// A heap for each thread. kLockFree: who has none waits for nobody (5.9).
template <class Heap, bool kLockFree>
class ThreadHeaps {
  public:
    constexpr ThreadHeaps() = default;

    Heap *mine() { return own != nullptr ? own : acquire(); }
    Heap *mine_if_any() { return own; }
    Heap *enter(Heap *heap, unsigned bin) {
        heap->lock_of(bin).lock();
        return heap;
    }
    void leave(Heap *heap, unsigned bin) { heap->lock_of(bin).unlock(); }
    void done() {
        if (has_ended) [[unlikely]]
            release();
    }
    Heap *of(HeapNumber number) { return table_.of(number); }
    void thread_ends() {
        has_ended = true;
        release();
    }
    template <class Visit>
    void for_each(Visit visit) {
        table_.for_each(visit);
    }
    HeapNumber count() const { return table_.count(); }
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

  private:
    // Of the process: the face has one allocator.
    static inline thread_local constinit Heap *own = nullptr;
    static inline thread_local constinit bool has_ended = false;

    // Who made it may not be seen by a fork between its making and its first lock, so both happen under the lock.
    [[gnu::noinline]] Heap *acquire() {
        if (!has_ended) thread_end.watch();
        const Locked held(lock_);
        own = idle_.pop();
        if (own == nullptr) own = table_.make();
        return own;
    }
    void release() {
        if (own == nullptr) return;
        const Locked held(lock_);
        idle_.push(own);
        own = nullptr;
    }

    using ListLock = std::conditional_t<kLockFree, NoLock, Lock<Rank::instances>>;

    ListLock lock_;
    HeapTable<Heap> table_;
    LockFreeStack<Heap, kCacheLineBytes> idle_;
};

// A thread's last heap, or another that nobody is in, or a new one (4.3).
template <class Heap>
class TrylockHeaps {
  public:
    constexpr TrylockHeaps() = default;

    Heap *mine() {
        if (own == nullptr) own = table_.of(1) != nullptr ? table_.of(1) : make();
        return own;
    }
    Heap *mine_if_any() { return own; }
    Heap *enter(Heap *heap, unsigned bin) {
        if (heap->lock_of(bin).try_lock()) return heap;
        const HeapNumber count = table_.count();
        for (HeapNumber i = 1; i <= count; ++i) {
            Heap *const other = table_.of(i);
            if (other != nullptr && other->lock_of(bin).try_lock()) return own = other;
        }
        if (Heap *const made = make()) heap = made;
        heap->lock_of(bin).lock();
        return own = heap;
    }
    void leave(Heap *heap, unsigned bin) { heap->lock_of(bin).unlock(); }
    void done() {}
    Heap *of(HeapNumber number) { return table_.of(number); }
    void thread_ends() {}
    template <class Visit>
    void for_each(Visit visit) {
        table_.for_each(visit);
    }
    HeapNumber count() const { return table_.count(); }
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

  private:
    static inline thread_local constinit Heap *own = nullptr;

    Heap *make() {
        const Locked held(lock_);
        return table_.make();
    }

    Lock<Rank::instances> lock_;
    HeapTable<Heap> table_;
};

}  // namespace gr::lab
