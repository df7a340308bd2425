// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a heap whose free blocks lie in lists of their containers, which it owns (Wasik 5.4, 5.5, 5.8).
// Invariant: a container whose heap this is lies in one list of its bin here: full, with room, or empty. What was freed
//    and takes more than 2 times the largest bin in one bin, or 64 times in all, goes to the global heap with its
//    container, wholly free ones first; no others where movement is restricted.
// Must not know: which thread's heap it is.
// Differs: a list that has too much keeps half of what it may; 5.4 says only as many as required. Where all lists
//    together have too much, those that keep less than this half stay as they are.
#pragma once

#include <array>

#include "parts/layout/object_layouts.hpp"
#include "parts/stores/block_store.hpp"
#include "parts/stores/features.hpp"
#include "parts/stores/global_containers.hpp"

namespace gr::lab {

template <ContainerSizes Sizes, Features kF>
class ContainerStore : public ContainedBlocks<Sizes> {
    using Blocks = ContainedBlocks<Sizes>;

  public:
    using Global = GlobalContainers<Sizes, kF>;

    void *take(std::size_t size) {
        const unsigned bin = Blocks::bin_of(size);
        Lists &lists = bins_[bin];
        Container *container = lists.roomy.first();
        if (container == nullptr) {
            container = lists.empty.pop_front();
            if (container == nullptr) return nullptr;
            show::rule("Wasik 001, 5.4",
                       "No container of the bin is partly free: a wholly free one of the heap is taken.");
            lists.roomy.push_front(container);
        }
        if (!container->free.is_empty()) freed(lists, 0 - std::size_t{container->block_bytes});
        void *const block = container->take();
        if (container->is_full()) {
            lists.roomy.remove(container);
            lists.full.push_front(container);
        }
        return block;
    }
    // To the front, so that what was freed last is taken next.
    void put(void *block, Global &global) {
        Container *const container = Sizes::container_of(block);
        Lists &lists = bins_[container->bin];
        (container->is_full() ? lists.full : lists.roomy).remove(container);
        container->put(block);
        freed(lists, container->block_bytes);
        (container->is_empty() ? lists.empty : lists.roomy).push_front(container);
        if constexpr (!kF.have_global_heap()) return;
        if (lists.free_bytes > kMostOfBin * Blocks::largest()) {
            show::rule("Wasik 001, 5.4", "The bin has too much that was freed: containers go to the global heap.");
            shed(lists, global);
        }
        if (free_bytes_ <= kMostOfHeap * Blocks::largest()) return;
        show::rule("Wasik 001, 5.4", "The heap has too much that was freed: containers go to the global heap.");
        for (Lists &each : bins_) shed(each, global);
    }
    // All containers go to the global heap, also those with blocks in use.
    void empty(Global &global) {
        for (Lists &lists : bins_)
            for (auto *const list : {&lists.full, &lists.roomy, &lists.empty})
                while (Container *const container = list->pop_front()) give(lists, container, global);
    }
    bool grow(std::size_t size, Global &global, HeapNumber heap) {
        const unsigned bin = Blocks::bin_of(size);
        show::rule("Wasik 001, 3.1.1", "The thread's heap has no block of this size: the global heap is asked.");
        Container *const container = global.take(bin, Blocks::size_of(bin), heap);
        if (container == nullptr) return false;
        Lists &lists = bins_[bin];
        freed(lists, container->free.count() * container->block_bytes);
        (container->is_empty() ? lists.empty : lists.roomy).push_front(container);
        return true;
    }
    // What lies in remote lists of this heap's containers for such blocks (3.2.4.3).
    FreeList take_remote(std::size_t size) {
        FreeList all;
        Lists &lists = bins_[Blocks::bin_of(size)];
        for (auto *const list : {&lists.full, &lists.roomy})
            for (Container *c = list->first(); c != nullptr; c = LinkedList<Container>::after(c))
                all.append(Sizes::remote_list_of(c).take_all());
        return all;
    }
    static void push_remote(void *block) { Sizes::remote_list_of(Sizes::container_of(block)).push(block); }

    // The bins that have a container.
    void draw(auto &picture, auto place) const {
        for (unsigned bin = 0; bin < Blocks::kBins; ++bin) {
            const Lists &lists = bins_[bin];
            if (lists.full.is_empty() && lists.roomy.is_empty() && lists.empty.is_empty()) continue;
            const auto own = picture.place(place, show::PlaceKind::bin, picture.words("b", bin),
                                           picture.words(Blocks::size_of(bin), " bytes"));
            picture.number(own, "freed", lists.free_bytes);
            lists.full.draw(picture, own, show::PlaceKind::group, "full");
            lists.roomy.draw(picture, own, show::PlaceKind::group, "roomy");
            lists.empty.draw(picture, own, show::PlaceKind::group, "empty");
        }
    }
    static void draw_remote_lists(auto &picture) {
        const auto own = picture.place(picture.top(), show::PlaceKind::remote, picture.words("remote"),
                                       picture.words("remote lists of containers"));
        picture.for_each_piece([&](const void *begin, std::size_t) {
            auto *const container = static_cast<Container *>(const_cast<void *>(begin));
            Sizes::remote_list_of(container).draw(picture, own);
        });
    }

  private:
    struct Lists {
        LinkedList<Container> full;
        LinkedList<Container> roomy;
        LinkedList<Container> empty;
        std::size_t free_bytes = 0;  // freed, not yet taken again: no allocation buffer
    };

    void freed(Lists &lists, std::size_t bytes) {
        lists.free_bytes += bytes;
        free_bytes_ += bytes;
    }
    // Until half of what may stay does.
    void shed(Lists &lists, Global &global) {
        while (lists.free_bytes > kMostOfBin * Blocks::largest() / 2) {
            Container *container = lists.empty.pop_front();
            if constexpr (!kF.have(restricted_movement)) {
                // The second, for the first is where the next block comes from.
                if (container == nullptr && lists.roomy.first() != nullptr) {
                    container = LinkedList<Container>::after(lists.roomy.first());
                    if (container != nullptr) lists.roomy.remove(container);
                }
            }
            if (container == nullptr) return;
            give(lists, container, global);
        }
    }
    // One that is in no list.
    void give(Lists &lists, Container *container, Global &global) {
        freed(lists, 0 - container->free.count() * container->block_bytes);
        global.give(container);
    }

    std::array<Lists, Blocks::kBins> bins_{};
    std::size_t free_bytes_ = 0;
};

}  // namespace gr::lab
