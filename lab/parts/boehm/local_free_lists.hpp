// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one thread's free-list headers (Boehm 002, Parallel allocation): for each size a count of what the thread took
//    from the global lists, or put there; and once that is the threshold, a free list of its own.
// Invariant: one thread is in it. A list has objects only where the count has reached the threshold, and less than two
//    groups of them.
// Must not know: where objects come from, and how many are a group.
#pragma once

#include <array>

#include "parts/lists/free_list.hpp"

namespace gr::lab {

template <unsigned kBins, std::size_t kThreshold>
class LocalFreeLists {
  public:
    // Whether the thread has a list for the size.
    bool has_list(unsigned bin) const { return headers_[bin].counted >= kThreshold; }
    // Of a size without a list: so many bytes more.
    void count(unsigned bin, std::size_t bytes) { headers_[bin].counted += bytes; }

    // Of a size with a list; nullptr: it is empty.
    void *take(unsigned bin) { return headers_[bin].list.pop(); }
    void *refill_and_take(unsigned bin, FreeList group) {
        headers_[bin].list = group;
        return take(bin);
    }
    // What is too much then: a group that is not kept, or nothing.
    FreeList put(unsigned bin, void *object, std::size_t group) {
        FreeList &list = headers_[bin].list;
        list.push(object);
        return list.count() < 2 * group ? FreeList() : list.take(group);
    }
    // Calls give(bin, list) for each list with objects, and keeps nothing.
    void give_all(auto give) {
        for (unsigned bin = 0; bin < kBins; ++bin)
            if (!headers_[bin].list.is_empty()) give(bin, headers_[bin].list.take_all());
    }

    void draw(auto &picture, auto place) const {
        for (unsigned bin = 0; bin < kBins; ++bin) {
            if (headers_[bin].counted == 0 && headers_[bin].list.is_empty()) continue;
            const auto own =
                picture.place(place, show::PlaceKind::bin, picture.words("b", bin), picture.words("list ", bin));
            picture.number(own, "counted", headers_[bin].counted);
            headers_[bin].list.for_each([&](const void *object) { picture.listed(object, own, show::Shown::free); });
        }
    }
    // For tests; group(bin): how many are a group.
    std::size_t free_objects(unsigned bin) const { return headers_[bin].list.count(); }
    bool is_valid(auto group) const {
        for (unsigned bin = 0; bin < kBins; ++bin)
            if (free_objects(bin) >= (has_list(bin) ? 2 * group(bin) : 1)) return false;
        return true;
    }

  private:
    // The paper has one word for both; a list has its number of objects here, too.
    struct Header {
        std::size_t counted = 0;
        FreeList list;
    };

    std::array<Header, kBins> headers_{};
};

}  // namespace gr::lab
