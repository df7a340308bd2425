// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator of Wasik's design space (3.1, 3.2): heaps, the store of each heap, and the buffers and remote
//    lists in front of the stores.
// Invariant: a free block lies in one place: a store, a buffer, a remote list or the global heap. With ownership a
//    block returns to the heap that its header names, at once or when a buffer or a remote list is cleared.
// Must not know: how a store keeps blocks; which features are good.
#pragma once

#include <array>
#include <type_traits>

#include "parts/composed/heap_choice.hpp"
#include "parts/composed/heaps_and_large.hpp"
#include "parts/stores/features.hpp"
#include "parts/stores/free_list_buffer.hpp"
#include "parts/stores/stores.hpp"
#include "platform/events.hpp"

namespace gr::lab {

template <Features kF>
class ComposedHeaps {
    static constexpr bool has(Feature feature) { return kF.have(feature); }
    static_assert(LegalSum<kF>::kIs, "these features do not go together");

    using Store = typename Parts<kF>::Store;
    using Global = typename Store::Global;
    static_assert(BlockStore<Store>, "the store lacks what composed.hpp calls");

    // A heap that only its own thread enters needs no lock: without ownership, or with remote lists (5.7).
    static constexpr bool kIsPrivate =
        has(thread_heaps) && (!has(ownership) || has(remote_lists) || has(remote_lists_on_containers));
    using HeapLock =
        std::conditional_t<kIsPrivate, NoLock,
                           std::conditional_t<has(locks_of_threads), LockOfThreads<Rank::heap>, Lock<Rank::heap>>>;
    using RemoteList = std::conditional_t<has(lock_free), LockFreeRemoteList, LockedRemoteList<Rank::worklist>>;
    using Buffer = typename Parts<kF>::Buffer;

    struct alignas(kCacheLineBytes) Heap {
        HeapNumber number = 0;
        Store store;
        [[no_unique_address]] Buffer buffer;
        [[no_unique_address]] std::conditional_t<has(delayed_ownership), Buffer, NoBuffer> others;
        [[no_unique_address]] std::array<HeapLock, has(locks_per_bin) ? Store::kBins : 1> locks{};
        std::array<RemoteList, has(remote_lists) ? Store::kBins : 0> remote{};
        std::atomic<Heap *> below{nullptr};  // of the stack of idle heaps

        HeapLock &lock_of(unsigned bin) { return locks[has(locks_per_bin) ? bin : 0]; }
    };
    using ListLock = std::conditional_t<has(lock_free), NoLock, Lock<Rank::instances>>;
    using SharedChoice = std::conditional_t<has(turn_heaps), HeapsOfCalls<Heap, ByTurn>, TrylockHeaps<Heap>>;
    using Choice = std::conditional_t<has(single_heap), SingleHeap<Heap>,
                                      std::conditional_t<has(thread_heaps), ThreadHeaps<Heap, ListLock>, SharedChoice>>;
    static_assert(HeapChoice<Choice, Heap>, "the choice of heaps lacks what composed.hpp calls");

  public:
    using Blocks = Store;
    static constexpr std::size_t kMostLimit = Store::largest() + 1;

    static bool start() { return true; }
    static std::size_t limit() { return kMostLimit; }

    void *take(std::size_t size) {
        Heap *const heap = heaps_.mine();
        void *const block = heap == nullptr ? nullptr : take_from(heap, size);
        done();
        return block == nullptr ? nullptr : Store::hand_out(block);
    }
    void put(void *block) {
        Store::take_back(block);
        give_back(block);
        done();
    }
    void thread_ends() {
        heaps_.thread_ends([this](Heap &heap) { leave_for_ever(heap); });
    }

    void lock() {
        heaps_.lock();
        heaps_.for_each([](Heap &heap) { lock_all(heap.locks); });
        global_.lock();
        heaps_.for_each([](Heap &heap) { lock_all(heap.remote); });
    }
    // The child of a fork does not have the other threads. Their heaps stay as they are: no thread of the child takes
    // one over, and a free into one holds the heap's lock.
    void unlock() {
        heaps_.for_each([](Heap &heap) { unlock_all(heap.remote); });
        global_.unlock();
        heaps_.for_each([](Heap &heap) { unlock_all(heap.locks); });
        heaps_.unlock();
    }

  private:
    void done() {
        heaps_.done([this](Heap &heap) { leave_for_ever(heap); });
    }
    // The heap's memory stays, as the next thread's heap: a thread that frees may still take the heap's lock, and then
    // find that the block is no longer the heap's.
    void leave_for_ever([[maybe_unused]] Heap &heap) {
        if constexpr (has(destroyed_heaps)) {
            const std::lock_guard held(heap.lock_of(0));
            heap.store.empty(global_);
        }
    }

    void *take_from(Heap *heap, std::size_t size) {
        if constexpr (has(free_list_buffer))
            if (void *const block = heap->buffer.take(size)) return block;
        if constexpr (has(reallocation))
            if (void *const block = heap->others.take(size)) return block;
        const unsigned bin = Store::bin_of(size);
        heap = heaps_.enter(heap, bin);
        void *block = heap->store.take(size);
        if (block == nullptr) block = take_remote(heap, size);
        if (block == nullptr && grow(heap, size)) block = heap->store.take(size);
        heaps_.leave(heap, bin);
        return block;
    }
    bool grow(Heap *heap, std::size_t size) {
        platform::count(platform::Event::refill);
        return heap->store.grow(size, global_, heap->number);
    }
    // Blocks that other threads freed come before new memory.
    void *take_remote(Heap *heap, std::size_t size) {
        if constexpr (has(remote_lists)) {
            FreeList freed = heap->remote[Store::bin_of(size)].take_all();
            if (freed.is_empty()) return nullptr;
            while (void *const block = freed.pop()) clear(heap, block);
            if constexpr (has(cleared_into_buffer))
                if (void *const block = heap->buffer.take(size)) return block;
            return heap->store.take(size);
        } else if constexpr (has(remote_lists_on_containers)) {
            FreeList freed = heap->store.take_remote(size);
            while (void *const block = freed.pop()) heap->store.put(block, global_);
            return heap->store.take(size);
        } else {
            return nullptr;
        }
    }
    // A block of a remote list. Its container may have moved to another heap since the block was pushed.
    void clear(Heap *heap, void *block) {
        if (!is_of(heap, block)) return give_to_owner(block);
        if constexpr (has(cleared_into_buffer)) {
            heap->buffer.put(block, [this](void *b) { give_to_owner(b); });
        } else {
            heap->store.put(block, global_);
        }
    }

    static bool is_of(const Heap *heap, const void *block) {
        return heap != nullptr && Store::heap_of(block) == heap->number;
    }
    void give_back(void *block) {
        if constexpr (!has(ownership)) {
            give_to_mine(block);
        } else {
            if constexpr (has(free_list_buffer)) {
                // A thread that keeps other threads' blocks needs a heap of its own to keep them in.
                Heap *const mine = has(delayed_ownership) ? heaps_.mine() : heaps_.mine_if_any();
                const auto give = [this](void *b) { give_to_owner(b); };
                if (is_of(mine, block)) return mine->buffer.put(block, give);
                if constexpr (has(delayed_ownership))
                    if (mine != nullptr) return mine->others.put(block, give);
            }
            give_to_owner(block);
        }
    }
    // A thread that gets no heap, because there is no memory, loses the block, and the program goes on. Where there is
    // a buffer, the heap is private.
    void give_to_mine(void *block) {
        Heap *heap = heaps_.mine();
        if (heap == nullptr) return;
        if constexpr (has(free_list_buffer))
            return heap->buffer.put(block, [this, heap](void *b) { heap->store.put(b, global_); });
        const unsigned bin = Store::bin_of_block(block);
        heap = heaps_.enter(heap, bin);
        heap->store.put(block, global_);
        heaps_.leave(heap, bin);
    }
    // The owner may change until its lock is held, so the owner is read again under the lock.
    void give_to_owner(void *block) {
        if constexpr (kIsPrivate) {
            Heap *const mine = heaps_.mine_if_any();
            if (is_of(mine, block)) return mine->store.put(block, global_);
        }
        if constexpr (has(remote_lists_on_containers)) return Store::push_remote(block);
        for (;;) {
            const HeapNumber owner = Store::heap_of(block);
            if (owner == 0) {
                if (global_.put(block)) return;
                continue;
            }
            Heap *const heap = heaps_.of(owner);
            if constexpr (has(remote_lists)) {
                return heap->remote[Store::bin_of_block(block)].push(block);
            } else {
                const std::lock_guard held(heap->lock_of(Store::bin_of_block(block)));
                if (Store::heap_of(block) == owner) return heap->store.put(block, global_);
            }
        }
    }

    Choice heaps_;
    Global global_;
};

template <Features kF>
using Composed = HeapsAndLarge<ComposedHeaps<kF>>;

}  // namespace gr::lab
