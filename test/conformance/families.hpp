// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      malloc's heap and a first-class heap behind one interface, for tests of what both can do.
// Invariant: each member calls the one function that its name says.
// Must not know: how the allocator works inside.
#pragma once

#include "support.hpp"

#include <gtest/gtest.h>
#include <malloc.h>

namespace gr::conformance {

struct OfMalloc {
    void *allocate(std::size_t size) { return std::malloc(size); }
    void *aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size) {
        return gr_aligned_calloc(alignment, count, size);
    }
    void *aligned_realloc(void *block, std::size_t alignment, std::size_t size) {
        return gr_aligned_realloc(block, alignment, size);
    }
    std::size_t resize(void *block, std::size_t least, std::size_t wanted) {
        return gr_resize_in_place(block, least, wanted);
    }
    std::size_t usable(void *block) { return malloc_usable_size(block); }
    void release(void *block) { std::free(block); }
    gr_statistics statistics() { return black_box::statistics(); }
};

class OfHeap {
  public:
    OfHeap() : heap_(black_box::granary_in_use() ? gr_heap_new(0) : nullptr) {}
    ~OfHeap() {
        if (heap_ != nullptr) gr_heap_destroy(heap_);
    }
    OfHeap(const OfHeap &) = delete;
    OfHeap &operator=(const OfHeap &) = delete;

    void *allocate(std::size_t size) { return gr_heap_malloc(heap_, size); }
    void *aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size) {
        return gr_heap_aligned_calloc(heap_, alignment, count, size);
    }
    void *aligned_realloc(void *block, std::size_t alignment, std::size_t size) {
        return gr_heap_aligned_realloc(heap_, block, alignment, size);
    }
    std::size_t resize(void *block, std::size_t least, std::size_t wanted) {
        return gr_heap_resize_in_place(heap_, block, least, wanted);
    }
    std::size_t usable(void *block) { return gr_heap_usable_size(heap_, block); }
    void release(void *block) { gr_heap_free(heap_, block); }
    gr_statistics statistics() { return black_box::statistics(heap_); }

  private:
    gr_heap *heap_;
};

// What only Granary has, on either of them.
template <class Of>
class OnEither : public testing::Test {
  protected:
    void SetUp() override {
        if (!black_box::granary_in_use()) GTEST_SKIP() << "only Granary has it";
    }
    void TearDown() override {
        if (!black_box::granary_in_use()) return;
        EXPECT_EQ(gr_debug_check(), nullptr);
    }
    Of of_;
};

using Families = testing::Types<OfMalloc, OfHeap>;

}  // namespace gr::conformance
