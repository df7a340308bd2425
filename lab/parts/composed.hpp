// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator of Wasik's design space (3.1, 3.2): heaps, a store in each, and what stands before it.
// Invariant: a block that is free lies in one place: a store, a buffer, a remote list or the global heap. With ownership
//            it comes back to the heap that its header names, at once or when a buffer or list is cleared.
// Must not know: how a store keeps blocks; which features are good.
#pragma once

#include <array>
#include <type_traits>

#include "parts/allocator.hpp"
#include "parts/features.hpp"
#include "parts/free_list_buffer.hpp"
#include "parts/heap_choice.hpp"
#include "parts/stores.hpp"

namespace gr::lab {

template <Features kF>
class Composed {
    static constexpr bool has(Feature feature) { return kF.have(feature); }
    static_assert(LegalSum<kF>::kIs);

    using Store = typename Parts<kF>::Store;
    using Global = typename Store::Global;
    static_assert(BlockStore<Store>);

    // A heap that others never enter needs no lock: without ownership, or with remote lists (5.7).
    static constexpr bool kIsPrivate =
        has(thread_heaps) && (!has(ownership) || has(remote_lists) || has(remote_lists_on_containers));
    using HeapLock =
        std::conditional_t<kIsPrivate, NoLock,
                           std::conditional_t<has(locks_of_threads), LockOfThreads<Rank::heap>, Lock<Rank::heap>>>;
    using RemoteList = std::conditional_t<has(lock_free), LockFreeRemoteList, LockedRemoteList<Rank::worklist>>;
    using Buffer = typename Parts<kF>::Buffer;
    static constexpr unsigned kLocks = has(locks_per_bin) ? Store::kBins : 1;
    static constexpr unsigned kRemoteLists = has(remote_lists) ? Store::kBins : 0;

    struct alignas(kCacheLineBytes) Heap {
        HeapNumber number = 0;
        Store store;
        [[no_unique_address]] Buffer buffer;
        [[no_unique_address]] std::conditional_t<has(delayed_ownership), Buffer, NoBuffer> others;
        [[no_unique_address]] std::array<HeapLock, kLocks> locks{};
        std::array<RemoteList, kRemoteLists> remote{};
        std::atomic<Heap *> below{nullptr};  // of the stack of idle heaps

        HeapLock &lock_of(unsigned bin) { return locks[has(locks_per_bin) ? bin : 0]; }
    };
    using ListLock = std::conditional_t<has(lock_free), NoLock, Lock<Rank::instances>>;
    using Choice =
        std::conditional_t<has(single_heap), SingleHeap<Heap>,
                           std::conditional_t<has(thread_heaps), ThreadHeaps<Heap, ListLock>, TrylockHeaps<Heap>>>;
    static_assert(HeapChoice<Choice, Heap>);

  public:
    constexpr Composed() = default;

    void *allocate(std::size_t size) {
        if (size > Store::largest()) [[unlikely]]
            return size > kMaxRequest ? nullptr : Store::allocate_large(size, kAlignment);
        Heap *const heap = heaps_.mine();
        void *const block = heap == nullptr ? nullptr : take(heap, size);
        heaps_.done();
        return block == nullptr ? nullptr : Store::hand_out(block);
    }
    void *allocate_aligned(std::size_t size, std::size_t alignment) {
        if (alignment <= kAlignment) return allocate(size);
        if (size > kMaxRequest || alignment > kMaxRequest / 2) return nullptr;
        if (size + alignment > Store::largest()) return Store::allocate_large(size, alignment);
        void *const block = allocate(size + alignment);
        return block == nullptr ? nullptr : Store::aligned_in(block, alignment);
    }
    void free(void *p) {
        void *const block = Store::block_of(p);
        if (Store::is_large(block)) [[unlikely]]
            return Store::free_large(block);
        Store::take_back(block);
        give_back(block);
        heaps_.done();
    }
    std::size_t usable_size(const void *p) { return Store::usable_size(p); }
    std::size_t zeroed_above() const { return Store::largest(); }
    void thread_ends() { heaps_.thread_ends(); }

    void lock() {
        heaps_.lock();
        heaps_.for_each([](Heap &heap) {
            for (auto &lock : heap.locks) lock.lock();
        });
        global_.lock();
        heaps_.for_each([](Heap &heap) {
            for (auto &list : heap.remote) list.lock();
        });
    }
    void unlock() {
        heaps_.for_each([](Heap &heap) {
            for (auto &list : heap.remote) list.unlock();
        });
        global_.unlock();
        heaps_.for_each([](Heap &heap) {
            for (auto &lock : heap.locks) lock.unlock();
        });
        heaps_.unlock();
    }
    // Heaps of threads that the child does not have stay as they are: nobody enters them but under a lock, and nobody
    // takes one over.
    void unlock_in_child() { unlock(); }

  private:
    void *take(Heap *heap, std::size_t size) {
        if constexpr (has(free_list_buffer))
            if (void *const block = heap->buffer.take(size)) return block;
        if constexpr (has(reallocation))
            if (void *const block = heap->others.take(size)) return block;
        const unsigned bin = Store::bin_of(size);
        heap = heaps_.enter(heap, bin);
        void *block = heap->store.take(size);
        if (block == nullptr) block = take_remote(heap, size);
        if (block == nullptr && heap->store.grow(size, global_, heap->number)) block = heap->store.take(size);
        heaps_.leave(heap, bin);
        return block;
    }
    // What others freed, before anything new.
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
            while (void *const block = freed.pop()) give(heap, block);
            return heap->store.take(size);
        } else {
            return nullptr;
        }
    }
    // A block of a remote list: its container may have moved on since.
    void clear(Heap *heap, void *block) {
        if (Store::heap_of(block) != heap->number) return give_to_owner(block);
        if constexpr (has(cleared_into_buffer)) {
            heap->buffer.put(block);
            if (heap->buffer.is_over()) heap->buffer.clear([this, heap](void *b) { give(heap, b); });
        } else {
            give(heap, block);
        }
    }
    // The heap's lock is held.
    void give(Heap *heap, void *block) {
        heap->store.put(block);
        heap->store.shed(global_);
    }

    void give_back(void *block) {
        if constexpr (has(ownership)) {
            // Who keeps others' blocks needs a heap to keep them at.
            Heap *const mine = has(delayed_ownership) ? heaps_.mine() : heaps_.mine_if_any();
            const bool is_mine = mine != nullptr && Store::heap_of(block) == mine->number;
            if constexpr (has(delayed_ownership)) {
                if (mine != nullptr && !is_mine) return put_into(mine->others, block);
            }
            if constexpr (has(free_list_buffer)) {
                if (is_mine) return put_into(mine->buffer, block);
            }
            if constexpr (kIsPrivate) {
                if (is_mine) return give(mine, block);
            }
            give_to_owner(block);
        } else {
            give_to_mine(block);
        }
    }
    template <FreeListBufferLike B>
    void put_into(B &buffer, void *block) {
        buffer.put(block);
        if (buffer.is_over()) buffer.clear([this](void *b) { give_to_owner(b); });
    }
    // Without a heap, for want of memory, the block is lost, not the program. Where there is a buffer, the heap is
    // private.
    void give_to_mine(void *block) {
        Heap *heap = heaps_.mine();
        if (heap == nullptr) return;
        if constexpr (has(free_list_buffer)) {
            heap->buffer.put(block);
            if (!heap->buffer.is_over()) return;
            return heap->buffer.clear([this, heap](void *b) { give(heap, b); });
        }
        const unsigned bin = Store::bin_of_block(block);
        heap = heaps_.enter(heap, bin);
        give(heap, block);
        heaps_.leave(heap, bin);
    }
    void give_to_owner(void *block) {
        if constexpr (has(remote_lists_on_containers)) {
            Heap *const mine = heaps_.mine_if_any();
            if (mine != nullptr && Store::heap_of(block) == mine->number) return give(mine, block);
            return Store::push_remote(block);
        } else {
            give_to_heap(block);
        }
    }
    // Whoever has it by now.
    void give_to_heap(void *block) {
        for (;;) {
            const HeapNumber owner = Store::heap_of(block);
            if (owner == 0) {
                if (global_.put(block)) return;
                continue;
            }
            Heap *const heap = heaps_.of(owner);
            if constexpr (has(remote_lists)) {
                if (kIsPrivate && heap == heaps_.mine_if_any()) return give(heap, block);
                return heap->remote[Store::bin_of_block(block)].push(block);
            } else {
                const Locked held(heap->lock_of(Store::bin_of_block(block)));
                if (Store::heap_of(block) == owner) return give(heap, block);
            }
        }
    }

    Choice heaps_;
    Global global_;
};

}  // namespace gr::lab
