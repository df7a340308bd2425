// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: <granary/memory_resource.hpp>.
// Invariant: it behaves as std::pmr asks of a resource and allocates from the library in use.
// Must not know: how the resource reaches the library.
#include "support.hpp"

#include <granary/memory_resource.hpp>

#include <gtest/gtest.h>
#include <malloc.h>
#include <list>
#include <map>
#include <string>

namespace gr::conformance {
namespace {

TEST(MemoryResource, ServesContainers) {
    std::pmr::vector<int> numbers(granary::resource());
    std::pmr::map<int, std::pmr::string> names(granary::resource());
    std::pmr::list<double> queue(granary::resource());
    for (int i = 0; i < 10000; ++i) {
        numbers.push_back(i);
        names[i] = "a name that does not fit into the string object " + std::to_string(i);
        queue.push_back(i);
    }
    EXPECT_EQ(numbers[9999], 9999);
    EXPECT_EQ(names.at(1234).substr(48), "1234");
    EXPECT_EQ(names.at(7).get_allocator().resource(), granary::resource());
    if (black_box::granary_in_use()) {
        EXPECT_EQ(gr_owns(numbers.data()), 1);
    }
}

TEST(MemoryResource, HonoursAlignment) {
    granary::memory_resource resource;
    for (std::size_t alignment = 1; alignment <= kMiB; alignment *= 2) {
        for (std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100}, 70 * kKiB}) {
            void *block = resource.allocate(size, alignment);
            ASSERT_NE(block, nullptr);
            EXPECT_TRUE(aligned(block, alignment));
            std::memset(block, 1, size);
            resource.deallocate(block, size, alignment);
        }
    }
}

TEST(MemoryResource, ThrowsBadAlloc) {
    EXPECT_THROW(opaque(granary::resource()->allocate(opaque(SIZE_MAX - 100))), std::bad_alloc);
    EXPECT_THROW(opaque(granary::resource()->allocate(opaque(SIZE_MAX - 100), 4096)), std::bad_alloc);
}

TEST(MemoryResource, EqualsItsOwnKind) {
    granary::memory_resource one;
    granary::memory_resource other;
    EXPECT_TRUE(one.is_equal(other));
    EXPECT_TRUE(one == *granary::resource());
    EXPECT_EQ(granary::resource(), granary::resource());
    EXPECT_FALSE(one.is_equal(*std::pmr::null_memory_resource()));
    EXPECT_FALSE(one.is_equal(*std::pmr::new_delete_resource()));
    void *block = one.allocate(100);
    other.deallocate(block, 100);
}

TEST(MemoryResource, FeedsAPool) {
    std::pmr::unsynchronized_pool_resource pool(granary::resource());
    std::pmr::vector<std::pmr::string> texts(&pool);
    for (int i = 0; i < 5000; ++i) {
        texts.emplace_back(static_cast<std::size_t>(i % 300), 'x');
    }
    EXPECT_EQ(texts[299].size(), 299u);
}

// Outlives every object of this program that is destroyed at exit.
std::pmr::string at_exit("a text too long for the small string optimisation", granary::resource());

TEST(MemoryResource, IsThereForStaticObjects) {
    EXPECT_EQ(at_exit.get_allocator().resource(), granary::resource());
    at_exit += at_exit;
    EXPECT_EQ(at_exit.size() % 2, 0u);
}

}  // namespace
}  // namespace gr::conformance
