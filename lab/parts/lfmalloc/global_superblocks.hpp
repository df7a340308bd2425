// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the global heap of LFMalloc (3.2): superblocks that are offline, by size class; wholly free ones for any class;
//    and those that were given back to the system.
// Invariant: a superblock is online, or in the list of its state. Beyond kMostEmpty wholly free superblocks, one is
//    destroyed: its pages go back to the kernel, but for the first, which has the header. A late unlock, and a thread
//    that reads the state after the last block was freed, find the header. The superblock's addresses are used again.
// Must not know: local heaps.
// Differs: a superblock that is destroyed (3.2.3, line 17) keeps its first page and its addresses.
#pragma once

#include "parts/lfmalloc/local_list.hpp"
#include "parts/lists/linked_list.hpp"
#include "parts/lists/lock.hpp"
#include "parts/memory/wilderness.hpp"
#include "platform/events.hpp"

namespace gr::lab {

// When a superblock that was full, or nearly, is taken again: with one free block, which is all that line 17 asks for;
// or with a quarter of its blocks free, as Hoard's global heap has them by its f (000, 5).
enum class RoomToGoOnline : std::uint8_t { one_block, a_quarter };

constexpr bool is_roomy(RoomToGoOnline wanted, std::size_t in_use, std::size_t blocks) {
    return wanted == RoomToGoOnline::one_block ? in_use < blocks : in_use * 4 <= blocks * 3;
}

template <unsigned kBins, RoomToGoOnline kRoom, std::size_t kMostEmpty>
class GlobalSuperblocks {
    using State = Superblock::State;

  public:
    // One with room for blocks of the class, which is the caller's from now on; nullptr: no memory.
    Superblock *take(unsigned bin, std::size_t size) {
        platform::count(platform::Event::refill);
        const std::lock_guard held(lock_);
        Superblock *s = roomy_[bin].pop_front();
        if (s == nullptr) s = pop_empty();
        if (s == nullptr) s = destroyed_.pop_front();
        if (s == nullptr) {
            show::rule("LFMalloc 004, 3.2.3, malloc line 19",
                       "The global heap has no superblock with room: one is made.");
            s = create();
        } else {
            show::rule("LFMalloc 004, 3.2.3, malloc lines 16 and 17",
                       "A superblock with room is taken from the global heap.");
        }
        if (s == nullptr) return nullptr;
        const std::lock_guard also_held(s->lock);
        if (s->state == State::roomy)
            show::rule("LFMalloc 004, 3.2.3, malloc lines 21 to 24", "Its remote list is merged into its local list.");
        s->state == State::roomy ? s->merge() : s->format_superblock(bin, size);
        s->state = State::online;
        return s;
    }
    // A superblock that the caller has and no heap has online.
    void put(Superblock *s) { settle(s, State::online); }
    // A block that is not local: lines 9 to 18.
    void put_block(Superblock *s, void *block) {
        {
            const std::lock_guard held(s->lock);
            if (s->in_use() == 0) die_of_no_block(block);
            show::rule("LFMalloc 004, 3.2.3, free lines 10 to 12",
                       "The block is remote or offline: it goes to the remote list.");
            s->free.push(block);
            const bool is_due = s->state == State::full ? is_roomy(kRoom, s->in_use(), s->blocks)
                                                        : s->state == State::roomy && s->in_use() == 0;
            if (!is_due) return;
        }
        settle(s, State::roomy);
    }

    // Also those of all superblocks.
    void lock() {
        lock_.lock();
        for (Superblock *s = all_; s != nullptr; s = s->made_before) s->lock.lock();
    }
    void unlock() {
        for (Superblock *s = all_; s != nullptr; s = s->made_before) s->lock.unlock();
        lock_.unlock();
    }

    // All superblocks; one that is online stands in a local heap, one that is full in no list.
    void draw(auto &picture) const {
        const auto place = picture.place(picture.top(), show::PlaceKind::global, picture.words("global"),
                                         picture.words("global heap"));
        picture.lock(place, &lock_);
        const auto full =
            picture.place(place, show::PlaceKind::list, picture.words("full"), picture.words("full, in no list"));
        for (const Superblock *s = all_; s != nullptr; s = s->made_before) {
            s->draw(picture);
            if (s->state == State::full) picture.stands(s, full);
        }
        for (unsigned bin = 0; bin < kBins; ++bin) {
            if (roomy_[bin].is_empty()) continue;
            const auto own = picture.place(place, show::PlaceKind::bin, picture.words("b", bin),
                                           picture.words("roomy, ", roomy_[bin].first()->block_bytes, " bytes"));
            roomy_[bin].for_each([&](const Superblock &s) { picture.stands(&s, own); });
        }
        empty_.draw(picture, place, show::PlaceKind::list, "empty");
        destroyed_.draw(picture, place, show::PlaceKind::list, "destroyed");
    }

  private:
    Superblock *create() {
        char *const memory = wilderness_.extend(kSuperblockBytes, kSuperblockBytes);
        if (memory == nullptr) return nullptr;
        auto *const s = new (memory) Superblock();
        s->made_before = all_;
        all_ = s;
        return s;
    }
    // The rest with both locks held.
    void place(Superblock *s) {
        const std::size_t in_use = s->in_use();
        s->state = in_use == 0 ? State::empty : is_roomy(kRoom, in_use, s->blocks) ? State::roomy : State::full;
        if (s->state == State::roomy) roomy_[s->bin].push_front(s);
        if (s->state != State::empty) return;
        empty_.push_front(s);
        ++empty_count_;
    }
    // From online, or, where something was freed, from roomy or full, if it still is.
    void settle(Superblock *s, State from) {
        Superblock *surplus;
        {
            const std::lock_guard held(lock_);
            const std::lock_guard also_held(s->lock);
            if (s->state != from && (from == State::online || s->state != State::full)) return;
            if (s->state == State::roomy) roomy_[s->bin].remove(s);
            place(s);
            surplus = empty_count_ > kMostEmpty ? pop_empty() : nullptr;
        }
        if (surplus != nullptr) {
            show::rule("LFMalloc 004, 3.2.3, free lines 13 to 17",
                       "Too many superblocks are wholly free: one is destroyed.");
            destroy(surplus);
        }
    }
    Superblock *pop_empty() {
        Superblock *const s = empty_.pop_front();
        if (s != nullptr) --empty_count_;
        return s;
    }
    void destroy(Superblock *s) {
        char *const begin = reinterpret_cast<char *>(s);
        if (const std::size_t page = platform::page_size(); page < kSuperblockBytes)
            platform::purge(begin + page, kSuperblockBytes - page);
        const std::lock_guard held(lock_);
        const std::lock_guard also_held(s->lock);
        s->mark = 0;
        s->state = State::destroyed;
        destroyed_.push_front(s);
    }

    Lock<Rank::global_bin> lock_;
    LinkedList<Superblock> roomy_[kBins];
    LinkedList<Superblock> empty_;
    LinkedList<Superblock> destroyed_;
    std::size_t empty_count_ = 0;
    Superblock *all_ = nullptr;
    Wilderness wilderness_;
};

}  // namespace gr::lab
