// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: first-class heaps: the functions gr_heap_* and <granary/heap.hpp>.
// Invariant: each function keeps the contract of its namesake of the libc family, and malloc's heap notices nothing.
// Must not know: what a heap is made of.
#include "support.hpp"

#include <granary/heap.hpp>

#include <gtest/gtest.h>
#include <array>
#include <atomic>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace gr::conformance {
namespace {

class Heap : public testing::Test {
  protected:
    void SetUp() override {
        if (!black_box::granary_in_use()) {
            GTEST_SKIP() << "only Granary has it";
        }
        heap_ = gr_heap_new(0);
        ASSERT_NE(heap_, nullptr);
    }
    void TearDown() override {
        if (black_box::granary_in_use()) {
            EXPECT_EQ(gr_debug_check(), nullptr);
            gr_heap_destroy(heap_);
        }
    }
    gr_heap *heap_ = nullptr;
};

TEST_F(Heap, ServesEverySize) {
    const uint64_t live = black_box::statistics().live_blocks;
    uint64_t key = 0;
    for (std::size_t size : boundary_sizes()) {
        void *const block = gr_heap_malloc(heap_, size);
        ASSERT_NE(block, nullptr) << size;
        EXPECT_TRUE(aligned(block, kMinimumAlignment));
        EXPECT_GE(gr_heap_usable_size(heap_, block), size);
        EXPECT_EQ(gr_owns(block), 0) << "malloc does not";
        fill(block, size, ++key);
        EXPECT_TRUE(filled(block, size, key));
        gr_heap_free(heap_, block);
    }
    EXPECT_EQ(black_box::statistics(heap_).live_blocks, 0u);
    EXPECT_EQ(black_box::statistics().live_blocks, live);
}

TEST_F(Heap, HonoursAlignment) {
    for (std::size_t alignment = 1; alignment <= 4 * kMiB; alignment *= 2) {
        for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}, 70 * kKiB, 40 * kMiB}) {
            void *const block = gr_heap_aligned_alloc(heap_, alignment, size);
            ASSERT_NE(block, nullptr) << size << " by " << alignment;
            EXPECT_TRUE(aligned(block, alignment));
            gr_heap_free(heap_, block);
        }
    }
    errno = 0;
    EXPECT_EQ(gr_heap_aligned_alloc(heap_, SIZE_MAX / 2 + 2, 1), nullptr);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(Heap, ClearsAlsoWhatWasUsed) {
    for (int round = 0; round < 3; ++round) {
        for (std::size_t size : {std::size_t{24}, std::size_t{3000}, 100 * kKiB, 40 * kMiB}) {
            void *const block = gr_heap_calloc(heap_, size / 8, 8);
            ASSERT_TRUE(all_zero(block, size)) << size;
            std::memset(block, 0xff, size);
            gr_heap_free(heap_, block);
        }
    }
    errno = 0;
    EXPECT_EQ(gr_heap_calloc(heap_, opaque(SIZE_MAX / 2), 3), nullptr);
    EXPECT_EQ(errno, ENOMEM);
}

TEST_F(Heap, ResizesAsRealloc) {
    void *block = gr_heap_realloc(heap_, nullptr, 10);
    ASSERT_NE(block, nullptr);
    std::size_t kept = 10;
    fill(block, kept, 5);
    for (std::size_t size : {std::size_t{200}, std::size_t{50000}, 3 * kMiB, 40 * kMiB, 300 * kKiB, std::size_t{700}}) {
        block = gr_heap_realloc(heap_, block, size);
        ASSERT_NE(block, nullptr);
        EXPECT_TRUE(filled(block, std::min(kept, size), 5)) << size;
        EXPECT_EQ(gr_owns(block), 0) << "moved into malloc's heap";
        kept = size;
        fill(block, kept, 5);
    }
    errno = 0;
    EXPECT_EQ(gr_heap_realloc(heap_, block, opaque(kPtrdiffMax) + 1), nullptr);
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_TRUE(filled(block, kept, 5)) << "the old block stands";
    EXPECT_EQ(opaque(gr_heap_realloc(heap_, block, 0)), nullptr);
    EXPECT_EQ(black_box::statistics(heap_).live_blocks, 0u);
}

TEST_F(Heap, RefusesWhatCannotBe) {
    for (std::size_t size : {kPtrdiffMax, kPtrdiffMax + 1, SIZE_MAX}) {
        errno = 0;
        EXPECT_EQ(gr_heap_malloc(heap_, opaque(size)), nullptr);
        EXPECT_EQ(errno, ENOMEM);
    }
}

TEST_F(Heap, NullIsNoBlockAndNoHeap) {
    gr_heap_free(heap_, nullptr);
    EXPECT_EQ(gr_heap_usable_size(heap_, nullptr), 0u);
    gr_heap_destroy(nullptr);
}

TEST_F(Heap, KeepsErrno) {
    errno = 1234;
    for (std::size_t size : {std::size_t{10}, 100 * kKiB, 64 * kMiB}) gr_heap_free(heap_, gr_heap_malloc(heap_, size));
    gr_heap_trim(heap_, 0);
    gr_heap_destroy(gr_heap_new(kMiB));
    EXPECT_EQ(errno, 1234);
}

TEST_F(Heap, TellsItsStatistics) {
    gr_statistics taken{};
    errno = 0;
    EXPECT_EQ(gr_heap_statistics_get(heap_, nullptr), -1);
    EXPECT_EQ(errno, EINVAL);
    taken.size = 7;
    EXPECT_EQ(gr_heap_statistics_get(heap_, &taken), -1);
    std::size_t usable = 0;
    for (std::size_t size : {std::size_t{10}, std::size_t{5000}, 100 * kKiB, 64 * kMiB}) {
        usable += gr_heap_usable_size(heap_, opaque(gr_heap_malloc(heap_, size)));
    }
    taken = black_box::statistics(heap_);
    EXPECT_EQ(taken.live_blocks, 4u);
    EXPECT_EQ(taken.live_bytes, usable);
    EXPECT_EQ(taken.run_count, 1u);
    EXPECT_EQ(taken.direct_count, 1u);
    EXPECT_EQ(taken.rseq, 0u);
    EXPECT_TRUE(black_box::counting_equation_holds(taken));
}

TEST_F(Heap, TellsTheStatisticsOfItsClasses) {
    std::array<gr_class_statistics, 200> rows{};
    rows[0].size = sizeof rows[0];
    for (std::size_t size : {std::size_t{10}, std::size_t{16}, std::size_t{5000}, 100 * kKiB, 64 * kMiB})
        ASSERT_NE(opaque(gr_heap_malloc(heap_, size)), nullptr);
    const int count = gr_class_statistics_get(heap_, rows.data(), rows.size());
    ASSERT_EQ(count, static_cast<int>(class_sizes().size() + 2));
    for (int i = 0; i < count; ++i) {
        const gr_class_statistics &row = rows[static_cast<std::size_t>(i)];
        const bool is_last = i >= count - 2;
        EXPECT_EQ(row.live_blocks, row.block_size == 16 ? 2u : row.block_size == 5120 || is_last ? 1u : 0u) << i;
    }
}

using Blocks = std::map<void *, std::size_t>;

int note_block(void *blocks, void *block, std::size_t bytes) {
    return static_cast<Blocks *>(blocks)->emplace(block, bytes).second ? 0 : 1;
}

TEST_F(Heap, AWalkVisitsItsBlocksAndNoOthers) {
    void *const of_malloc = opaque(std::malloc(100));
    gr_heap *const other = gr_heap_new(0);
    Blocks live;
    Sequence random(21);
    for (int step = 0; step < 6000; ++step) {
        const std::size_t size = random.below(random.below(500) == 0 ? 40 * kMiB : random.below(20) == 0 ? kMiB : 3000);
        void *const block = gr_heap_malloc(heap_, size);
        live[block] = gr_heap_usable_size(heap_, block);
        static_cast<void>(gr_heap_malloc(other, size));
        if (random.below(2) == 0) {
            auto victim = live.lower_bound(reinterpret_cast<void *>(random.next() >> 17));
            if (victim == live.end()) victim = live.begin();
            std::thread([&] { gr_heap_free(heap_, victim->first); }).join();
            live.erase(victim);
        }
        if (step % 1000 != 999) continue;
        Blocks visited;
        ASSERT_EQ(gr_heap_walk(heap_, note_block, &visited), 0);
        ASSERT_EQ(visited, live) << step;
    }
    gr_heap_destroy(other);
    std::free(of_malloc);
}

int free_block(void *heap, void *block, std::size_t) {
    gr_heap_free(static_cast<gr_heap *>(heap), block);
    return 0;
}

TEST_F(Heap, AWalkMayFreeEveryBlockThatItVisits) {
    Sequence random(22);
    for (int i = 0; i < 5000; ++i)
        ASSERT_NE(gr_heap_malloc(heap_, random.below(random.below(100) == 0 ? 40 * kMiB : 3000)), nullptr);
    EXPECT_EQ(gr_heap_walk(heap_, free_block, heap_), 0);
    EXPECT_EQ(black_box::statistics(heap_).live_blocks, 0u);
    Blocks visited;
    EXPECT_EQ(gr_heap_walk(heap_, note_block, &visited), 0);
    EXPECT_TRUE(visited.empty());
}

TEST_F(Heap, TrimGivesBack) {
    std::vector<void *> blocks(3000);
    for (void *&block : blocks) {
        block = gr_heap_malloc(heap_, kKiB);
        std::memset(block, 1, kKiB);
    }
    for (void *block : blocks) {
        gr_heap_free(heap_, block);
    }
    EXPECT_GT(gr_heap_trim(heap_, 0), 0U);
    EXPECT_GT(black_box::statistics(heap_).purged_bytes, 2 * kMiB) << "by the frees and the trim";
    EXPECT_EQ(black_box::statistics(heap_).retained_bytes, 0u);
    EXPECT_EQ(black_box::statistics(heap_).heap_bytes, 0u);
}

TEST_F(Heap, BeyondItsReservationBlocksAreMapped) {
    gr_heap *const small = gr_heap_new(1);
    ASSERT_NE(small, nullptr);
    std::vector<void *> blocks;
    for (int i = 0; i < 300; ++i) {
        blocks.push_back(gr_heap_malloc(small, 30000));
        ASSERT_NE(blocks.back(), nullptr);
        fill(blocks.back(), 30000, static_cast<uint64_t>(i));
    }
    EXPECT_GT(black_box::statistics(small).direct_count, 0u);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        EXPECT_TRUE(filled(blocks[i], 30000, i));
    }
    gr_heap_destroy(small);
}

// Every thread allocates from every heap and frees what any other left there.
TEST_F(Heap, ThreadsFreeEachOthersBlocks) {
    constexpr std::size_t kThreads = 4;
    constexpr std::size_t kPlaces = 200;
    constexpr int kSteps = 20000;
    const std::array<gr_heap *, 3> heaps{gr_heap_new(0), gr_heap_new(kMiB), heap_};
    std::array<std::array<std::atomic<uint64_t *>, kPlaces>, 3> places{};
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            Sequence random(t);
            for (int step = 0; step < kSteps; ++step) {
                const std::size_t which = random.below(heaps.size());
                const std::size_t words = 2 + random.below(random.below(50) == 0 ? 20000 : 300);
                uint64_t *block = static_cast<uint64_t *>(gr_heap_malloc(heaps[which], words * sizeof *block));
                block[0] = words;
                block[words - 1] = ~words;
                block = places[which][random.below(kPlaces)].exchange(block);
                if (block == nullptr) continue;
                if (block[block[0] - 1] != ~block[0]) std::abort();
                gr_heap_free(heaps[which], block);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    EXPECT_EQ(gr_debug_check(), nullptr);
    for (std::size_t which = 0; which < heaps.size(); ++which) {
        EXPECT_TRUE(black_box::counting_equation_holds(black_box::statistics(heaps[which])));
        for (std::atomic<uint64_t *> &place : places[which]) {
            gr_heap_free(heaps[which], place.load());
        }
        EXPECT_EQ(black_box::statistics(heaps[which]).live_blocks, 0u);
    }
    gr_heap_destroy(heaps[0]);
    gr_heap_destroy(heaps[1]);
}

TEST_F(Heap, IsAMemoryResource) {
    const uint64_t live = black_box::statistics().live_blocks;
    {
        granary::heap heap;
        std::pmr::vector<int> numbers(&heap);
        std::pmr::map<int, std::pmr::string> names(&heap);
        std::pmr::list<double> queue(&heap);
        for (int i = 0; i < 10000; ++i) {
            numbers.push_back(i);
            names[i] = std::string_view("a name that does not fit into the string object");
            queue.push_back(i);
        }
        EXPECT_EQ(numbers[9999], 9999);
        EXPECT_EQ(names.at(7).get_allocator().resource(), &heap);
        EXPECT_EQ(black_box::statistics().live_blocks, live) << "something came from malloc";
        EXPECT_GT(black_box::statistics(heap.get()).live_blocks, 30000u);
    }
    EXPECT_EQ(black_box::statistics().live_blocks, live);
}

// Containers need not be taken down one by one.
TEST_F(Heap, ItsEndTakesContainersThatWereLeft) {
    const auto heap = std::make_unique<granary::heap>(kMiB);
    using Names = std::pmr::map<int, std::pmr::string>;
    Names *const names = ::new (heap->allocate(sizeof(Names), alignof(Names))) Names(heap.get());
    for (int i = 0; i < 1000; ++i) {
        (*names)[i] = std::string_view("a name that does not fit into the string object");
    }
    EXPECT_GT(black_box::statistics(heap->get()).live_blocks, 2000u);
}

TEST_F(Heap, AsAResourceItEqualsItselfOnlyAndThrows) {
    granary::heap one;
    granary::heap other;
    EXPECT_TRUE(one == one);
    EXPECT_FALSE(one == other);
    EXPECT_FALSE(one.is_equal(*std::pmr::new_delete_resource()));
    EXPECT_THROW(opaque(one.allocate(opaque(SIZE_MAX - 100))), std::bad_alloc);
    EXPECT_THROW(opaque(one.allocate(opaque(SIZE_MAX - 100), 4096)), std::bad_alloc);
    for (std::size_t alignment = 1; alignment <= kMiB; alignment *= 2) {
        void *const block = one.allocate(100, alignment);
        EXPECT_TRUE(aligned(block, alignment));
        one.deallocate(block, 100, alignment);
    }
    EXPECT_EQ(black_box::statistics(one.get()).live_blocks, 0u);
}

}  // namespace
}  // namespace gr::conformance
