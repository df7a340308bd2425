// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the statistics: counted on demand, for the whole of a heap and for each size class.
// Invariant: allocation and free count nothing; block_bytes = live + magazine + remote + free. The statistics of a heap
//    are the sums over its classes.
// Must not know: how statistics are printed.
#pragma once

#include "granary/granary.h"
#include "instance/instance.hpp"

namespace gr {

// The blocks of a heap and of its companion, counted by class and state.
class HeapCount {
  public:
    // After the size classes there is one row for runs and one for direct blocks. Class 0 is no size class.
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

// The statistics of a heap; no system call. `counted` has the counts of its classes; without it they are counted.
gr_statistics count_statistics(const Instance &allocator, const HeapCount &counted);
gr_statistics count_statistics(const Instance &allocator);
// Fill in values of the process, which the kernel is asked for. huge_bytes takes longer than everything else together.
void ask_resident(gr_statistics *out);
void ask_huge(gr_statistics *out);
// The statistic metadata_bytes, without the walk over the heap.
std::size_t metadata_bytes(const Instance &allocator);
// Fills the fields that lie within out->size, as far as the caller knows them. false: out is nullptr, or out->size is
// not even the head.
bool copy_statistics(const Instance &allocator, gr_statistics *out);
// Fills at most `capacity` rows, each up to rows->size, as far as the caller knows its fields. false: rows is nullptr,
// or rows->size is not even the head or breaks the alignment of the next row.
bool copy_rows(const Instance &allocator, gr_class_statistics *rows, std::size_t capacity);

}  // namespace gr
