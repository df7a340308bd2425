// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the global heap for containers that move (Wasik 5.4). For a bin it has partly free containers, wholly free ones
//    and new ones, in that order. Heaps that were destroyed leave full containers here (3.1.1).
// Invariant: a container here belongs to heap 0 and lies in one list. Of wholly free ones at most kMostFormatted keep
//    their bin; beyond it up to half are there for any (5.4). Where movement is restricted, all are wholly free.
// Must not know: the heaps.
#pragma once

#include <array>

#include "parts/layout/container_sizes.hpp"
#include "parts/layout/size_bins.hpp"
#include "parts/lists/lock.hpp"
#include "parts/lists/lock_free_stack.hpp"
#include "parts/stores/features.hpp"

namespace gr::lab {

template <ContainerSizes Sizes, Features kF>
class GlobalContainers {
    static constexpr bool kHasRemoteList = kF.have(global_remote_list);
    using Bins = GeometricBins<Sizes::kLargestBlock>;

  public:
    // For a heap; nullptr: no memory.
    Container *take(unsigned bin, std::size_t size, HeapNumber heap) {
        const std::lock_guard held(lock_);
        const unsigned shape = Sizes::shape_for(size, asked_[bin]++);
        Container *container = find(bin, shape);
        if (container == nullptr) {
            show::rule("Wasik 001, 5.4", "The global heap has no container for the bin: a new one is made.");
            container = sizes_.make(shape);
        }
        if (container == nullptr) return nullptr;
        container->move_to(heap, bin, size);
        return container;
    }
    // By the heap that has it.
    void give(Container *container) {
        if constexpr (kHasRemoteList) {
            const std::lock_guard held(given_lock_);
            container->heap.store(0, std::memory_order_release);  // pairs with heap_of
            given_.push_front(container);
        } else {
            const std::lock_guard held(lock_);
            container->heap.store(0, std::memory_order_release);
            keep(container);
        }
    }
    // A block of a container that lies here; false: it is another heap's by now. Where movement is restricted, none is
    // in use here.
    bool put(void *block) {
        if constexpr (kF.have(restricted_movement)) die_of_no_block(block);
        const std::lock_guard held(lock_);
        const std::lock_guard given_held(given_lock_);  // no heap gives meanwhile
        take_given();
        Container *const container = Sizes::container_of(block);
        if (container->heap.load(std::memory_order_relaxed) != 0) return false;
        of_used(container).remove(container);
        container->put(block);
        keep(container);
        return true;
    }
    void lock() { lock_all(lock_, given_lock_); }
    void unlock() { unlock_all(lock_, given_lock_); }
    void draw(auto &picture, auto place) const {
        picture.lock(place, &lock_);
        picture.lock(place, &given_lock_);
        if constexpr (kHasRemoteList) given_.draw(picture, place, show::PlaceKind::remote, "given");
        for (unsigned bin = 0; bin < Bins::kCount; ++bin) {
            if (full_[bin].is_empty() && partial_[bin].is_empty() && empty_[bin].is_empty()) continue;
            const auto own = picture.place(place, show::PlaceKind::bin, picture.words("b", bin),
                                           picture.words(Bins::size_of(bin), " bytes"));
            full_[bin].draw(picture, own, show::PlaceKind::group, "full");
            partial_[bin].draw(picture, own, show::PlaceKind::group, "partial");
            empty_[bin].draw(picture, own, show::PlaceKind::group, "empty");
        }
        const auto any =
            picture.place(place, show::PlaceKind::list, picture.words("any"), picture.words("for any bin"));
        for (const auto &list : convertible_) list.for_each([&](const Container &c) { picture.stands(&c, any); });
    }

  private:
    static constexpr unsigned kMostFormatted = 128;

    // What was given is looked at when there is nothing else (3.2.1.5).
    Container *find(unsigned bin, unsigned shape) {
        Container *const container = find_kept(bin, shape);
        if (container != nullptr || !kHasRemoteList) return container;
        {
            const std::lock_guard given_held(given_lock_);
            take_given();
        }
        return find_kept(bin, shape);
    }
    Container *find_kept(unsigned bin, unsigned shape) {
        if (Container *const container = partial_[bin].pop_front()) {
            show::rule("Wasik 001, 5.4",
                       "The global heap has a partly free container of the bin: it moves to the heap.");
            return container;
        }
        if (Container *const container = empty_[bin].pop_front()) {
            show::rule("Wasik 001, 5.4",
                       "The global heap has a wholly free container of the bin: it moves to the heap.");
            --formatted_;
            return container;
        }
        return convertible_[shape].pop_front();
    }
    LinkedList<Container> &of_used(const Container *container) {
        return (container->is_full() ? full_ : partial_)[container->bin];
    }
    void keep(Container *container) {
        if (!container->is_empty()) return of_used(container).push_front(container);
        empty_[container->bin].push_front(container);
        if (++formatted_ > kMostFormatted) convert(kMostFormatted / 2);
    }
    void convert(unsigned wanted) {
        for (auto &list : empty_) {
            for (; wanted != 0 && !list.is_empty(); --wanted, --formatted_) {
                Container *const container = list.pop_front();
                convertible_[Sizes::shape_of(container)].push_front(container);
            }
        }
    }
    void take_given() {
        while (Container *const container = given_.pop_front()) keep(container);
    }

    Lock<Rank::global_bin> lock_;
    std::array<LinkedList<Container>, Bins::kCount> full_{};
    std::array<LinkedList<Container>, Bins::kCount> partial_{};
    std::array<LinkedList<Container>, Bins::kCount> empty_{};
    std::array<LinkedList<Container>, Sizes::kShapes> convertible_{};
    std::array<unsigned, Bins::kCount> asked_{};
    unsigned formatted_ = 0;
    Lock<Rank::worklist> given_lock_;
    LinkedList<Container> given_;
    Sizes sizes_;
};

// Without a lock (5.9 says so of remote lists): one stack of wholly free containers, for any bin, and no limit of 5.4.
template <ContainerSizes Sizes, Features kF>
requires(kF.have(lock_free)) class GlobalContainers<Sizes, kF> {
    static_assert(Sizes::kIsLockFree && Sizes::kShapes == 1, "a lock-free list holds containers of one shape");

  public:
    Container *take(unsigned bin, std::size_t size, HeapNumber heap) {
        Container *container = free_.pop();
        if (container == nullptr) {
            show::rule("Wasik 001, 5.9", "The global heap has no free container: a new one is made.");
            container = sizes_.make(0);
        }
        if (container == nullptr) return nullptr;
        container->move_to(heap, bin, size);
        return container;
    }
    void give(Container *container) {
        container->heap.store(0, std::memory_order_release);
        free_.push(container);
    }
    [[noreturn]] bool put(void *block) { die_of_no_block(block); }
    void lock() {}
    void unlock() {}
    void draw(auto &picture, auto place) const {
        free_.for_each([&](const Container &container) { picture.stands(&container, place); });
    }

  private:
    LockFreeStack<Container, kCacheLineBytes> free_;
    Sizes sizes_;
};

}  // namespace gr::lab
