// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds the leaks: blocks in use that nothing reachable points to. A block to which no leak points, or only leaks
//    of its own cycle, is a direct leak; the others are reached from direct leaks.
// Invariant: leaks are found while the threads stand and reported afterwards. A cycle to which no other leak points has
//    one direct leak. The memory of the search is returned, so that nothing in it is a root of the next collection.
// Must not know: when leaks are searched; what a stack's number stands for.
#pragma once

#include "collector/collector.hpp"
#include "profile/stacks.hpp"

namespace gr {

struct Leak {
    const char *begin;
    std::size_t bytes;
    StackNumber stack;
    StackNumber owner;  // the stack of the direct leak from which this one is reached
    bool is_direct;
};

class LeakSearch {
  public:
    constexpr LeakSearch() = default;

    // When everything reachable is marked. stack_of(superblock, index): the number of the stack that allocated the
    // block.
    template <class StackOf>
    void find(const Collector &of, Kind &kind, StackOf stack_of) {
        complete_ = true;
        live_blocks_ = live_bytes_ = 0;
        of.for_each_block(kind, [&](const BlockAt &block, bool is_marked) {
            if (is_marked) {
                ++live_blocks_;
                live_bytes_ += block.bytes;
                return;
            }
            const BlockRef ref = kind.instance.superblocks().find(block.begin);
            const StackNumber stack = stack_of(ref.superblock, ref.index);
            const auto *const begin = static_cast<const char *>(block.begin);
            complete_ = leaks_.add({begin, block.bytes, stack, stack, false}) && complete_;
        });
        complete_ = complete_ && trace();
    }
    bool is_complete() const { return complete_; }
    std::uint64_t live_blocks() const { return live_blocks_; }
    std::uint64_t live_bytes() const { return live_bytes_; }
    std::size_t count() const { return leaks_.size(); }

    // Calls visit(first, blocks, bytes) for each group of leaks that are equally direct and have one stack and one
    // owner.
    template <class Visit>
    void for_each_group(Visit visit) {
        sort();
        for (std::size_t i = 0; i < leaks_.size();) {
            const Leak &first = leaks_[i];
            std::uint64_t bytes = 0;
            std::size_t end = i;
            for (; end < leaks_.size() && is_same_group(first, leaks_[end]); ++end) bytes += leaks_[end].bytes;
            visit(first, end - i, bytes);
            i = end;
        }
    }
    void release();

  private:
    using Index = std::uint32_t;

    static bool is_same_group(const Leak &a, const Leak &b) {
        return a.is_direct == b.is_direct && a.stack == b.stack && a.owner == b.owner;
    }
    bool trace();
    bool reach(Index from, Index owner);
    bool reach_through(platform::Range part, Index owner);
    Index index_of(const char *p) const;
    void sort();

    platform::MappedList<Leak> leaks_;  // by address, until they are sorted
    platform::MappedList<Index> owners_;
    platform::MappedList<Index> todo_;
    std::uint64_t live_blocks_ = 0;
    std::uint64_t live_bytes_ = 0;
    bool complete_ = false;
};

}  // namespace gr
