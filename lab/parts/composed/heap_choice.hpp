// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which heap a thread works on (Wasik 3.1.1): the only heap; a heap of its own, taken over from a thread that
//    ended; any heap whose lock is free; or one of a fixed number of heaps, chosen anew at each call.
// Invariant: enter(heap) returns with the heap's lock held. A thread that has ended has no heap between two calls. A
//    number leads to the heap that it was given to for ever, because heaps are never unmade; 0 is the number of no
//    heap. While a thread holds the list's lock, no other thread makes a heap.
// Must not know: what a heap holds.
#pragma once

#include <atomic>
#include <concepts>
#include <new>

#include "parts/composed/which_heap.hpp"
#include "parts/layout/block_tag.hpp"
#include "parts/lists/lock.hpp"
#include "parts/lists/lock_free_stack.hpp"
#include "parts/memory/thread_end.hpp"
#include "parts/memory/wilderness.hpp"

namespace gr::lab {

template <class C, class Heap>
concept HeapChoice = Lockable<C> && requires(C choice, Heap *heap, HeapNumber number, unsigned bin) {
    // The calling thread's; nullptr: no memory.
    { choice.mine() } -> std::same_as<Heap *>;
    // nullptr: it has none yet.
    { choice.mine_if_any() } -> std::same_as<Heap *>;
    // Of a call: the heap to work on and its lock.
    { choice.enter(heap, bin) } -> std::same_as<Heap *>;
    { choice.leave(heap, bin) } -> std::same_as<void>;
    // At the end of each call, and of a thread. Both call their argument with each heap that its thread leaves for
    // ever.
    {
        choice.done([](Heap &) {})
        } -> std::same_as<void>;
    {
        choice.thread_ends([](Heap &) {})
        } -> std::same_as<void>;
    { choice.of(number) } -> std::same_as<Heap *>;
};

// Heaps by number, made when they are first wanted, and how a call enters one.
template <class Heap, LockLike ListLock>
class HeapTable {
    static_assert(alignof(Heap) <= Wilderness::kPage, "heaps lie at the beginning of a page");

  public:
    Heap *of(HeapNumber number) const {
        return heaps_[number].load(std::memory_order_acquire);  // pairs with make
    }
    HeapNumber count() const { return made_.load(std::memory_order_relaxed); }
    void for_each(auto visit) const {
        for (HeapNumber number = 1; number <= count() && number < kMost; ++number)
            if (Heap *const heap = of(number)) visit(*heap);
    }
    Heap *enter(Heap *heap, unsigned bin) {
        heap->lock_of(bin).lock();
        return heap;
    }
    void leave(Heap *heap, unsigned bin) { heap->lock_of(bin).unlock(); }
    void done(auto) {}
    void thread_ends(auto) {}
    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }
    // The heap that the calling thread keeps between two calls; nullptr: none.
    static const Heap *kept() { return nullptr; }
    void draw_lock(auto &picture) const {
        const auto heaps = picture.place(picture.top(), show::PlaceKind::list, picture.words("heaps"),
                                         picture.words("the list of heaps"));
        picture.lock(heaps, &lock_);
    }

  protected:
    // The list's lock is held. nullptr: no memory, or more heaps than numbers.
    Heap *make() {
        char *const place = wilderness_.extend(sizeof(Heap), Wilderness::kPage);
        const HeapNumber number = place == nullptr ? kMost : made_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (number >= kMost) return nullptr;
        auto *const heap = new (place) Heap();
        heap->number = number;
        heaps_[number].store(heap, std::memory_order_release);  // the heap's contents, with the acquire of `of`
        return heap;
    }
    // The heap that all threads share, or begin with.
    Heap *first() {
        if (Heap *const heap = of(1)) return heap;
        const std::lock_guard held(lock_);
        Heap *const heap = of(1);
        return heap != nullptr ? heap : make();
    }

    ListLock lock_;

  private:
    static constexpr HeapNumber kMost = 1U << 16;

    Wilderness wilderness_;
    std::atomic<HeapNumber> made_{0};  // ordered by nothing
    std::atomic<Heap *> heaps_[kMost]{};
};

// One heap for all threads.
template <class Heap>
class SingleHeap : public HeapTable<Heap, Lock<Rank::instances>> {
  public:
    Heap *mine() { return this->first(); }
    Heap *mine_if_any() { return this->first(); }
};

// A heap for each thread. ListLock: NoLock where a thread that has no heap yet waits for no other thread (5.9).
template <class Heap, LockLike ListLock>
class ThreadHeaps : public HeapTable<Heap, ListLock> {
  public:
    Heap *mine() { return own != nullptr ? own : acquire(); }
    Heap *mine_if_any() { return own; }
    static const Heap *kept() { return own; }
    void done(auto leave_for_ever) {
        if (has_ended) [[unlikely]]
            release(leave_for_ever);
    }
    void thread_ends(auto leave_for_ever) {
        has_ended = true;
        release(leave_for_ever);
    }

  private:
    // Of the process: the face has one allocator.
    static inline thread_local constinit Heap *own = nullptr;
    static inline thread_local constinit bool has_ended = false;

    [[gnu::noinline]] Heap *acquire() {
        if (!has_ended) thread_end.watch();
        const std::lock_guard held(this->lock_);
        own = idle_.pop();
        if (own != nullptr)
            show::rule("Wasik 001, 3.1.1", "The thread takes over the heap of a thread that ended.");
        else
            show::rule("Wasik 001, 3.1.1", "The thread has no heap yet: one is made for it.");
        if (own == nullptr) own = this->make();
        return own;
    }
    void release(auto leave_for_ever) {
        if (own == nullptr) return;
        leave_for_ever(*own);
        idle_.push(own);
        own = nullptr;
    }

    LockFreeStack<Heap, kCacheLineBytes> idle_;  // heaps whose threads ended
};

// The thread's last heap if its lock is free, else another heap whose lock is free, else a new heap (4.3).
template <class Heap>
class TrylockHeaps : public HeapTable<Heap, Lock<Rank::instances>> {
  public:
    Heap *mine() { return own != nullptr ? own : own = this->first(); }
    Heap *mine_if_any() { return own; }
    static const Heap *kept() { return own; }
    Heap *enter(Heap *heap, unsigned bin) {
        if (heap->lock_of(bin).try_lock()) return heap;
        for (HeapNumber i = 1; i <= this->count(); ++i) {
            Heap *const other = this->of(i);
            if (other != nullptr && other->lock_of(bin).try_lock()) return own = other;
        }
        {
            const std::lock_guard held(this->lock_);
            if (Heap *const made = this->make()) own = made;
        }
        own->lock_of(bin).lock();
        return own;
    }

  private:
    static inline thread_local constinit Heap *own = nullptr;
};

// As many heaps as Which counts. Which names the heap for each malloc, and no thread keeps a heap beyond a call.
template <class Heap, WhichHeap Which>
class HeapsOfCalls : public HeapTable<Heap, Lock<Rank::instances>> {
  public:
    Heap *mine() {
        // acquire: pairs with make_all, which another thread may have done.
        unsigned count = complete_.load(std::memory_order_acquire);
        if (count == 0) [[unlikely]]
            count = make_all();
        return count == 0 ? nullptr : this->of(1 + Which::of_caller(count));
    }
    Heap *mine_if_any() { return nullptr; }

  private:
    // Their number; 0: no memory for all of them.
    [[gnu::noinline]] unsigned make_all() {
        const std::lock_guard held(this->lock_);
        const unsigned wanted = Which::count();
        while (this->count() < wanted)
            if (this->make() == nullptr) return 0;
        complete_.store(wanted, std::memory_order_release);
        return wanted;
    }

    std::atomic<unsigned> complete_{0};  // the number of heaps, once all are made
};

}  // namespace gr::lab
