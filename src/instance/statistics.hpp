// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the statistics: counted on demand, for the whole of a heap and for each size class.
// Invariant: nothing is counted while blocks are allocated and freed; block_bytes = live + magazine + remote + free. The
//    whole is the sum of what was counted for the classes.
// Must not know: how statistics are printed.
#pragma once

#include "granary/granary.h"
#include "instance/instance.hpp"

namespace gr {

// What lies where in a heap and in its companion.
class HeapCount {
  public:
    // Runs and direct blocks have a row each after the size classes, of which class 0 is none.
    static constexpr std::size_t kRows = kClassCount - 1 + 2;

    explicit HeapCount(const Instance &allocator);

    gr_class_statistics row(std::size_t number) const;
    // The fields that are sums over the rows.
    void add_up(gr_statistics *out) const;

  private:
    void add(const Instance &allocator);
    void add_superblock(const Superblocks &superblocks, const Superblock *s);
    gr_class_statistics class_row(ClassIndex c) const;

    std::uint64_t superblocks_[kClassCount] = {};
    std::uint64_t global_superblocks_[kClassCount] = {};
    std::uint64_t free_[kClassCount] = {};
    std::uint64_t remote_[kClassCount] = {};
    std::uint64_t cached_[kClassCount] = {};
    std::uint64_t run_count_ = 0;
    std::uint64_t run_bytes_ = 0;
    std::uint64_t direct_count_ = 0;
    std::uint64_t direct_bytes_ = 0;
};

// Of the heap; no system call. With what was counted of its classes, or to count.
gr_statistics count_statistics(const Instance &allocator, const HeapCount &counted);
gr_statistics count_statistics(const Instance &allocator);
// Of the process, which the kernel is asked for; it takes longer for huge_bytes than all else takes.
void ask_resident(gr_statistics *out);
void ask_huge(gr_statistics *out);
// Of them, without the walk.
std::size_t metadata_bytes(const Instance &allocator);
// As much of them as the caller knows, by out->size; false: that is not even the head.
bool copy_statistics(const Instance &allocator, gr_statistics *out);
// As many rows as there is capacity for, each as far as the caller knows it, by rows->size. false: as above.
bool copy_rows(const Instance &allocator, gr_class_statistics *rows, std::size_t capacity);

}  // namespace gr
