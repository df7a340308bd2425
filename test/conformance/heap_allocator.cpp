// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      <granary/heap_allocator.hpp> in the containers of the standard library.
// Invariant: all memory of a container comes from its heap and returns there.
// Must not know: what a heap is made of.
#include "support.hpp"

#include <granary/heap.hpp>

#include <gtest/gtest.h>
#include <list>
#include <map>
#include <memory>
#include <scoped_allocator>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <vector>

namespace gr::conformance {
namespace {

template <class T>
using Allocator = granary::heap_allocator<T>;
template <class T>
using Vector = std::vector<T, Allocator<T>>;
using String = std::basic_string<char, std::char_traits<char>, Allocator<char>>;

static_assert(!std::is_default_constructible_v<Allocator<int>>, "there is no heap to choose");
static_assert(std::is_nothrow_copy_constructible_v<Allocator<int>>);
static_assert(std::is_nothrow_move_assignable_v<Allocator<int>>);
static_assert(std::is_nothrow_constructible_v<Allocator<long>, const Allocator<int> &>);
static_assert(std::is_same_v<std::allocator_traits<Allocator<int>>::rebind_alloc<char>, Allocator<char>>);
static_assert(!std::allocator_traits<Allocator<int>>::is_always_equal::value);
static_assert(sizeof(Allocator<int>) == sizeof(void *));

constexpr const char *kLong = "a text that does not fit into the string object";

class HeapAllocator : public testing::Test {
  protected:
    void SetUp() override {
        if (!black_box::granary_in_use()) GTEST_SKIP() << "only Granary has it";
        one_ = gr_heap_new(0);
        other_ = gr_heap_new(0);
    }
    void TearDown() override {
        if (!black_box::granary_in_use()) return;
        EXPECT_EQ(live(one_), 0u);
        EXPECT_EQ(live(other_), 0u);
        gr_heap_destroy(one_);
        gr_heap_destroy(other_);
    }
    static uint64_t live(gr_heap *heap) { return black_box::statistics(heap).live_blocks; }

    gr_heap *one_ = nullptr;
    gr_heap *other_ = nullptr;
};

TEST_F(HeapAllocator, ServesContainers) {
    const uint64_t before = black_box::statistics().live_blocks;
    {
        Vector<int> numbers(one_);
        std::list<double, Allocator<double>> queue(one_);
        std::map<int, int, std::less<>, Allocator<std::pair<const int, int>>> sorted(one_);
        std::unordered_map<int, int, std::hash<int>, std::equal_to<>, Allocator<std::pair<const int, int>>> hashed(
            one_);
        String text(kLong, one_);
        for (int i = 0; i < 10000; ++i) {
            numbers.push_back(i);
            queue.push_back(i);
            sorted[i] = -i;
            hashed[i] = i * 2;
            text += 'x';
        }
        EXPECT_EQ(numbers[9999], 9999);
        EXPECT_EQ(queue.back(), 9999);
        EXPECT_EQ(sorted.at(77), -77);
        EXPECT_EQ(hashed.at(77), 154);
        EXPECT_EQ(text.size(), std::strlen(kLong) + 10000);
        EXPECT_GE(live(one_), 30000u);
        EXPECT_EQ(black_box::statistics().live_blocks, before) << "something came from malloc";
    }
    EXPECT_EQ(black_box::statistics().live_blocks, before);
}

// Each element gets the allocator of the container that it is in.
TEST_F(HeapAllocator, GoesInwardsWithAScopedAdaptor) {
    const uint64_t before = black_box::statistics().live_blocks;
    using Texts = std::vector<String, std::scoped_allocator_adaptor<Allocator<String>>>;
    {
        Texts texts{Allocator<String>(one_)};
        for (int i = 0; i < 1000; ++i) texts.emplace_back(kLong);
        EXPECT_EQ(texts.back().get_allocator(), Allocator<char>(one_));
        EXPECT_EQ(texts.back(), kLong);
        EXPECT_GE(live(one_), 1001u);
        EXPECT_EQ(black_box::statistics().live_blocks, before) << "something came from malloc";
    }
}

TEST_F(HeapAllocator, EqualsWhatHasTheSameHeap) {
    const Allocator<int> numbers(one_);
    const Allocator<char> characters(numbers);
    EXPECT_TRUE(numbers == characters);
    EXPECT_FALSE(numbers != characters);
    EXPECT_TRUE(numbers != Allocator<int>(other_));
    EXPECT_EQ(characters.get(), one_);
    Allocator<char> back(characters);
    Allocator<int> first(numbers);
    int *const block = first.allocate(100);
    Allocator<int>(back).deallocate(block, 100);
}

TEST_F(HeapAllocator, MovesAndSwapsWithTheContainer) {
    Vector<int> a(1000, 1, one_);
    Vector<int> b(2000, 2, other_);
    const int *const of_a = a.data();
    const int *const of_b = b.data();
    swap(a, b);
    EXPECT_EQ(a.data(), of_b);
    EXPECT_EQ(b.data(), of_a);
    EXPECT_EQ(a.get_allocator().get(), other_);
    b = std::move(a);
    EXPECT_EQ(b.data(), of_b) << "no element was moved";
    EXPECT_EQ(b.get_allocator().get(), other_);
    EXPECT_EQ(live(one_), 0u);
}

TEST_F(HeapAllocator, StaysWhenTheContainerIsCopiedTo) {
    const Vector<int> from(1000, 1, one_);
    Vector<int> to(other_);
    to = from;
    EXPECT_EQ(to.get_allocator().get(), other_);
    EXPECT_EQ(to, from);
    const Vector<int> copy(from);
    EXPECT_EQ(copy.get_allocator().get(), one_);
    EXPECT_EQ(live(other_), 1u);
}

TEST_F(HeapAllocator, HonoursTheAlignmentOfTheElements) {
    struct alignas(4096) Page {
        char bytes[4096];
    };
    struct alignas(64) Line {
        int number;
    };
    Vector<Page> pages(one_);
    std::list<Line, Allocator<Line>> lines(one_);
    for (int i = 0; i < 50; ++i) {
        pages.emplace_back();
        EXPECT_TRUE(aligned(pages.data(), 4096));
        lines.push_back({i});
        EXPECT_TRUE(aligned(&lines.back(), 64));
    }
}

TEST_F(HeapAllocator, SaysWhatItCannotHave) {
    Allocator<uint64_t> numbers(one_);
    EXPECT_EQ(std::allocator_traits<Allocator<uint64_t>>::max_size(numbers), kPtrdiffMax / 8);
    EXPECT_THROW(opaque(numbers.allocate(opaque(numbers.max_size() + 1))), std::bad_array_new_length);
    EXPECT_THROW(opaque(numbers.allocate(opaque(SIZE_MAX))), std::bad_array_new_length);
    EXPECT_THROW(opaque(numbers.allocate(opaque(numbers.max_size()))), std::bad_alloc);
    Vector<uint64_t> none(one_);
    EXPECT_THROW(none.reserve(none.max_size() + 1), std::length_error);
}

TEST_F(HeapAllocator, SharesItsHeapWithOtherThreads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([this, t] {
            for (int round = 0; round < 200; ++round) {
                std::map<int, String, std::less<>, Allocator<std::pair<const int, String>>> names(one_);
                for (int i = 0; i < 100; ++i) names.emplace(i, String(kLong, one_));
                if (names.at(t).size() != std::strlen(kLong)) std::abort();
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
}

TEST_F(HeapAllocator, ComesFromAHeapObject) {
    granary::heap heap;
    {
        Vector<int> numbers(heap.allocator<int>());
        numbers.resize(1000);
        const auto shared = std::allocate_shared<int>(heap.allocator(), 5);
        EXPECT_EQ(*shared, 5);
        EXPECT_EQ(live(heap.get()), 2u);
    }
    EXPECT_EQ(live(heap.get()), 0u);
}

}  // namespace
}  // namespace gr::conformance
