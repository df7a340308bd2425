// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the free lists that all threads share, one for each size, and the pages that they are filled from, under one
//    allocation lock (Boehm 002, Context and Parallel allocation).
// Invariant: a page has objects of one size, for ever. A free object is here in the list of its size, or in a group of
//    as many as a page has; the list is shorter than a group. With the lock held, only one object or one group is
//    moved, or a page is taken; a thread that wants a page's worth divides the page after it released the lock.
// Must not know: threads, and what they keep.
#pragma once

#include <array>

#include "parts/boehm/block_groups.hpp"
#include "parts/layout/object_layouts.hpp"

namespace gr::lab {

template <std::size_t kPageBytes>
class GlobalFreeLists {
    using Pages = FixedContainers<kPageBytes>;

  public:
    // Sizes, and how an address finds its page's descriptor.
    using Blocks = ContainedBlocks<Pages>;

    // As many objects as a page has.
    static std::size_t group_of(unsigned bin) { return (kPageBytes - sizeof(Container)) / Blocks::size_of(bin); }

    // nullptr: no memory.
    void *take(unsigned bin) {
        const std::lock_guard held(lock_);
        FreeList &list = lists_[bin];
        if (list.is_empty()) list = groups_[bin].pop(group_of(bin));
        if (list.is_empty()) list = divide(pages_.make(0), bin);
        return list.pop();
    }
    void put(unsigned bin, void *object) {
        const std::lock_guard held(lock_);
        add(bin, object);
    }
    // A page's worth, or what is in the list; empty: no memory.
    FreeList take_group(unsigned bin) {
        Container *page = nullptr;
        {
            const std::lock_guard held(lock_);
            show::rule("Boehm 002, Parallel allocation", "The thread's list is empty: a page's worth comes at once.");
            if (groups_[bin].count() != 0) return groups_[bin].pop(group_of(bin));
            if (!lists_[bin].is_empty()) return lists_[bin].take_all();
            page = pages_.make(0);
        }
        show::rule("Boehm 002, Parallel allocation", "A page is divided for the thread, after the lock was released.");
        return divide(page, bin);
    }
    // A page's worth.
    void put_group(unsigned bin, FreeList group) {
        show::rule("Boehm 002, Observations",
                   "The thread has two groups: one goes to the global lists, under one lock.");
        const std::lock_guard held(lock_);
        groups_[bin].push(group);
    }
    // Any number.
    void put_all(unsigned bin, FreeList objects) {
        const std::lock_guard held(lock_);
        while (void *const object = objects.pop()) add(bin, object);
    }

    void lock() { lock_.lock(); }
    void unlock() { lock_.unlock(); }

    void draw(auto &picture) const {
        picture.for_each_piece(
            [&](const void *begin, std::size_t bytes) { Blocks::draw_piece(picture, begin, bytes); });
        const auto pages =
            picture.place(picture.top(), show::PlaceKind::list, picture.words("pages"), picture.words("pages"));
        picture.others_stand(pages);
        const auto place = picture.place(picture.top(), show::PlaceKind::global, picture.words("global"),
                                         picture.words("global free lists"));
        picture.lock(place, &lock_);
        for (unsigned bin = 0; bin < Blocks::kBins; ++bin) {
            if (lists_[bin].is_empty() && groups_[bin].count() == 0) continue;
            const auto own = picture.place(place, show::PlaceKind::bin, picture.words("b", bin),
                                           picture.words(Blocks::size_of(bin), " bytes"));
            const auto listed = [&](const void *object) { picture.listed(object, own, show::Shown::free); };
            lists_[bin].for_each(listed);
            groups_[bin].for_each(listed);
        }
    }
    // For tests.
    std::size_t free_objects(unsigned bin) const { return lists_[bin].count() + groups_[bin].count() * group_of(bin); }
    bool is_valid() const {
        for (unsigned bin = 0; bin < Blocks::kBins; ++bin)
            if (lists_[bin].count() >= group_of(bin)) return false;
        return true;
    }

  private:
    void add(unsigned bin, void *object) {
        FreeList &list = lists_[bin];
        list.push(object);
        if (list.count() == group_of(bin)) groups_[bin].push(list.take_all());
    }
    // In the order of their addresses, as a sweep would find them. No page: nothing.
    static FreeList divide(Container *page, unsigned bin) {
        FreeList objects;
        if (page == nullptr) return objects;
        page->format(bin, Blocks::size_of(bin));
        page->used = page->fresh = page->blocks;  // all are in lists from now on, or in use
        for (std::size_t i = page->blocks; i-- > 0;) objects.push(page->first_block + i * page->block_bytes);
        return objects;
    }

    Lock<Rank::global_bin> lock_;
    std::array<FreeList, Blocks::kBins> lists_{};
    std::array<BlockGroups, Blocks::kBins> groups_{};
    Pages pages_;
};

}  // namespace gr::lab
