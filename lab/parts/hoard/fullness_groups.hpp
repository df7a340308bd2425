// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the superblocks that a heap has of one size class, in fullness groups (Hoard 3.1), with u and a; and the
//    emptiness threshold and invariant of these two.
// Invariant: used() and blocks() are the sums over the superblocks; each is in the group of its fullness, the last
//    group is the full ones'. u and a count blocks, S is the blocks of one superblock: what a header or a rest takes
//    belongs to no one.
// Must not know: which heap it is and where superblocks come from and go to.
#pragma once

#include "parts/layout/container.hpp"
#include "parts/lists/linked_list.hpp"

namespace gr::lab {

// f and K. The empty fraction counts groups, so that the superblocks at least f empty are those of whole groups.
struct EmptinessThreshold {
    static constexpr unsigned kGroups = 8;

    std::size_t empty_groups = 2;       // f = empty_groups / kGroups
    std::size_t slack_superblocks = 4;  // K

    // Figure 2, line 9.
    constexpr bool is_crossed(std::size_t u, std::size_t a, std::size_t superblock) const {
        return u + slack_superblocks * superblock < a && u * kGroups < (kGroups - empty_groups) * a;
    }
};

class FullnessGroups {
  public:
    std::size_t used() const { return used_; }      // u
    std::size_t blocks() const { return blocks_; }  // a

    void add(Container *s) {
        groups_[group_of(s)].push_front(s);
        used_ += s->used;
        blocks_ += s->blocks;
        superblock_ = s->blocks;
    }
    void remove(Container *s) {
        groups_[group_of(s)].remove(s);
        used_ -= s->used;
        blocks_ -= s->blocks;
    }
    // Which has a free block; nullptr: none.
    Container *fullest() const {
        for (unsigned group = kFull; group-- > 0;)
            if (!groups_[group].is_empty()) return groups_[group].first();
        return nullptr;
    }
    // Where u < (1 - f) * a it is at least f empty: one superblock is emptier than the mean, and with it its group.
    Container *emptiest() const {
        for (const auto &group : groups_)
            if (!group.is_empty()) return group.first();
        return nullptr;
    }
    // From one that has a free block.
    void *take(Container *s) {
        const unsigned before = group_of(s);
        void *const block = s->take();
        ++used_;
        if (const unsigned now = group_of(s); now != before) move(s, before, now);
        return block;
    }
    // What was freed into last comes first in its group.
    void put(Container *s, void *block) {
        const unsigned before = group_of(s);
        s->put(block);
        --used_;
        move(s, before, group_of(s));
    }

    // Else u >= a - K * S or u >= (1 - f) * a.
    bool crosses(const EmptinessThreshold &threshold) const {
        return threshold.is_crossed(used_, blocks_, superblock_);
    }

    // `size`: of a block, so that u and a are told in bytes.
    void draw(auto &picture, auto place, std::size_t size) const {
        picture.number(place, "u", used_ * size);
        picture.number(place, "a", blocks_ * size);
        for (unsigned i = 0; i <= kFull; ++i) {
            const auto own = picture.place(place, show::PlaceKind::group, picture.words("g", i),
                                           i == kFull ? picture.words("full")
                                           : i == 0   ? picture.words("emptier than 1/", kFull)
                                                      : picture.words(i, "/", kFull, " full"));
            groups_[i].for_each([&](const Container &s) {
                s.draw(picture, show::ContainerKind::superblock);
                picture.stands(&s, own);
            });
        }
    }

    // For tests.
    const LinkedList<Container> &group(unsigned i) const { return groups_[i]; }

  private:
    static constexpr unsigned kFull = EmptinessThreshold::kGroups;

    static unsigned group_of(const Container *s) { return s->used * kFull / s->blocks; }
    // To the front of its group.
    void move(Container *s, unsigned from, unsigned to) {
        if (s == groups_[to].first()) return;
        groups_[from].remove(s);
        groups_[to].push_front(s);
    }

    LinkedList<Container> groups_[kFull + 1];
    std::size_t used_ = 0;
    std::size_t blocks_ = 0;
    std::size_t superblock_ = 0;  // S: of a class all have as many blocks
};

}  // namespace gr::lab
