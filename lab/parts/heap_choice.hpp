// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which heap a thread works on (Wasik 3.1.1): the only one; its own, taken over from a thread that ended; or one
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
class SingleHeap : public HeapTable<Heap, Lock<Rank::instances>> {
  public:
    Heap *mine() { return this->first(); }
    Heap *mine_if_any() { return this->first(); }
};

// A heap for each thread. ListLock: NoLock where who has none waits for nobody (5.9).
template <class Heap, LockLike ListLock>
class ThreadHeaps : public HeapTable<Heap, ListLock> {
  public:
    Heap *mine() { return own != nullptr ? own : acquire(); }
    Heap *mine_if_any() { return own; }
    void done() {
        if (has_ended) [[unlikely]]
            release();
    }
    void thread_ends() {
        has_ended = true;
        release();
    }

  private:
    // Of the process: the face has one allocator.
    static inline thread_local constinit Heap *own = nullptr;
    static inline thread_local constinit bool has_ended = false;

    [[gnu::noinline]] Heap *acquire() {
        if (!has_ended) thread_end.watch();
        const Locked held(this->lock_);
        own = idle_.pop();
        if (own == nullptr) own = this->make();
        return own;
    }
    void release() {
        if (own == nullptr) return;
        idle_.push(own);
        own = nullptr;
    }

    LockFreeStack<Heap, kCacheLineBytes> idle_;  // whose threads ended
};

// A thread's last heap, or another that nobody is in, or a new one (4.3).
template <class Heap>
class TrylockHeaps : public HeapTable<Heap, Lock<Rank::instances>> {
  public:
    Heap *mine() { return own != nullptr ? own : own = this->first(); }
    Heap *mine_if_any() { return own; }
    Heap *enter(Heap *heap, unsigned bin) {
        if (heap->lock_of(bin).try_lock()) return heap;
        for (HeapNumber i = 1; i <= this->count(); ++i) {
            Heap *const other = this->of(i);
            if (other != nullptr && other->lock_of(bin).try_lock()) return own = other;
        }
        {
            const Locked held(this->lock_);
            if (Heap *const made = this->make()) own = made;
        }
        own->lock_of(bin).lock();
        return own;
    }

  private:
    static inline thread_local constinit Heap *own = nullptr;
};

}  // namespace gr::lab
