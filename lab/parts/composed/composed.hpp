// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator of Wasik's design space (3.1, 3.2): heaps, the store of each heap, and the buffers and remote
//    lists in front of the stores.
// Invariant: a free block lies in one place: a store, a buffer, a remote list or the global heap. With ownership a
//    block returns to the heap that its header names, at once or when a buffer or a remote list is cleared.
// Must not know: how a store keeps blocks; which features are good.
#pragma once

#include <type_traits>

#include "parts/composed/composed_heap.hpp"
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

    using Heap = ComposedHeap<kF>;
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

    void draw(auto &picture) const {
        picture.for_each_piece([&](const void *begin, std::size_t bytes) { Store::draw_piece(picture, begin, bytes); });
        heaps_.draw_lock(picture);
        heaps_.for_each([&](const Heap &heap) { heap.draw(picture, &heap == heaps_.kept()); });
        if constexpr (kF.have_global_heap()) {
            const auto place = picture.place(picture.top(), show::PlaceKind::global, picture.words("global"),
                                             picture.words("global heap"));
            global_.draw(picture, place);
        }
        if constexpr (has(remote_lists_on_containers)) Store::draw_remote_lists(picture);
        if constexpr (!has(containers) || !has(ownership))
            picture.others_stand(picture.place(picture.top(), show::PlaceKind::list, picture.words("cut"),
                                               picture.words("cut into blocks")));
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
            if (void *const block = heap->buffer.take(size)) {
                show::rule("Wasik 001, 3.1.3",
                           "The thread's free-list buffer has a block: it is taken, without a lock.");
                return block;
            }
        if constexpr (has(reallocation))
            if (void *const block = heap->others.take(size)) {
                show::rule("Wasik 001, 3.1.1.1", "A block of another heap that waits in the buffer is taken again.");
                return block;
            }
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
            show::rule("Wasik 001, 3.1.4",
                       "Before it gets more memory, the heap takes back what others freed remotely.");
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
                if constexpr (has(delayed_ownership)) {
                    show::rule("Wasik 001, 3.1.1.1", "The block is another heap's: it waits in the thread's buffer.");
                    if (mine != nullptr) return mine->others.put(block, give);
                }
            }
            give_to_owner(block);
        }
    }
    // A thread that gets no heap, because there is no memory, loses the block, and the program goes on. Where there is
    // a buffer, the heap is private.
    void give_to_mine(void *block) {
        Heap *heap = heaps_.mine();
        if (heap == nullptr) return;
        show::rule("Wasik 001, 3.1.1.1",
                   "Without ownership the block stays with the heap of the thread that frees it.");
        if constexpr (has(free_list_buffer))
            return heap->buffer.put(block, [this, heap](void *b) { heap->store.put(b, global_); });
        const unsigned bin = Store::bin_of_block(block);
        heap = heaps_.enter(heap, bin);
        heap->store.put(block, global_);
        heaps_.leave(heap, bin);
    }
    // The owner may change until its lock is held, so the owner is read again under the lock.
    void give_to_owner(void *block) {
        if constexpr (Heap::kIsPrivate) {
            Heap *const mine = heaps_.mine_if_any();
            if (is_of(mine, block)) {
                show::rule("Wasik 001, 3.1.1.1",
                           "The block goes back to its owner, the heap of the thread that frees it.");
                return mine->store.put(block, global_);
            }
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
                show::rule("Wasik 001, 3.1.4",
                           "The block is another thread's: it goes to the remote list of its owner.");
                return heap->remote[Store::bin_of_block(block)].push(block);
            } else {
                show::rule("Wasik 001, 3.1.1.1", "The block goes back to its owner, whose heap's lock is taken.");
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
