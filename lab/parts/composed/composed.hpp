// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an allocator of Wasik's design space (3.1, 3.2): heaps, a store in each, and what stands before it.
// Invariant: a block that is free lies in one place: a store, a buffer, a remote list or the global heap. With
//    ownership it comes back to the heap that its header names, at once or when a buffer or list is cleared.
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
    // Heaps of threads that fork's child does not have stay as they are: nobody enters them but under a lock, and
    // nobody takes one over.
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
    // Its memory is the next thread's heap, since others may still look at its lock to find that a block is not its
    // own.
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
    // What others freed, before anything new.
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
    // A block of a remote list: its container may have moved on since.
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
                // Who keeps others' blocks needs a heap to keep them at.
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
    // Without a heap, for want of memory, the block is lost, not the program. Where there is a buffer, the heap is
    // private.
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
    // Whoever that is by now.
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
