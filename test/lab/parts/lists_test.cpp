// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the lab's lists: of free blocks, linked both ways, and those that need no lock.
// Invariant: what was put in comes out, once, in the order that the list promises.
// Must not know: any allocator.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "parts/contract/allocator.hpp"
#include "parts/lists/free_list.hpp"
#include "parts/lists/linked_list.hpp"
#include "parts/lists/lock_free_stack.hpp"
#include "parts/lists/remote_list.hpp"

namespace gr::lab::lists_test {

struct alignas(kAlignment) Block {
    std::array<char, kAlignment> bytes;
};

// A copy is popped, which changes no block.
std::size_t walked(FreeList list) {
    std::size_t met = 0;
    while (list.pop() != nullptr) ++met;
    return met;
}

TEST(FreeListTest, TheLastInIsTheFirstOut) {
    std::array<Block, 3> blocks;
    FreeList list;
    for (Block &block : blocks) list.push(&block);
    EXPECT_EQ(list.count(), 3U);
    EXPECT_EQ(walked(list), 3U);
    EXPECT_EQ(list.pop(), &blocks[2]);
    EXPECT_EQ(list.pop(), &blocks[1]);
    EXPECT_EQ(list.pop(), &blocks[0]);
    EXPECT_EQ(list.pop(), nullptr);
    EXPECT_TRUE(list.is_empty());
}

TEST(FreeListTest, APartIsTakenAndAppended) {
    std::array<Block, 5> blocks;
    FreeList list;
    for (Block &block : blocks) list.push(&block);
    FreeList taken = list.take(2);
    EXPECT_EQ(taken.count(), 2U);
    EXPECT_EQ(list.count(), 3U);
    EXPECT_EQ(list.take(9).count(), 3U);
    taken.append(list);
    EXPECT_EQ(taken.count(), 2U);
    FreeList other;
    other.push(&blocks[0]);
    taken.append(other);
    EXPECT_EQ(taken.count(), 3U);
    EXPECT_EQ(walked(taken), 3U);
    EXPECT_EQ(taken.take_all().count(), 3U);
    EXPECT_TRUE(taken.is_empty());
}

struct Node : ListNode {};

TEST(LinkedListTest, AnyIsRemoved) {
    std::array<Node, 4> nodes;
    LinkedList<Node> list;
    for (Node &node : nodes) list.push_front(&node);
    list.remove(&nodes[1]);
    list.remove(&nodes[0]);
    list.push_front(&nodes[0]);
    EXPECT_EQ(list.pop_front(), &nodes[0]);
    EXPECT_EQ(LinkedList<Node>::after(list.first()), &nodes[2]);
    EXPECT_EQ(list.pop_front(), &nodes[3]);
    EXPECT_EQ(list.pop_front(), &nodes[2]);
    EXPECT_TRUE(list.is_empty());
    EXPECT_EQ(list.pop_front(), nullptr);
}

template <class List>
class RemoteListTest : public testing::Test {};
using RemoteLists = testing::Types<LockedRemoteList<Rank::worklist>, LockFreeRemoteList>;
TYPED_TEST_SUITE(RemoteListTest, RemoteLists);

TYPED_TEST(RemoteListTest, ManyPushAndOneTakesEachBlockOnce) {
    constexpr std::size_t kThreads = 4;
    constexpr std::size_t kEach = 5000;
    std::vector<Block> blocks(kThreads * kEach);
    TypeParam list;
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
            for (std::size_t i = 0; i < kEach; ++i) list.push(&blocks[t * kEach + i]);
        });
    }
    std::set<void *> taken;
    while (taken.size() < blocks.size()) {
        FreeList some = list.take_all();
        EXPECT_EQ(walked(some), some.count());
        while (void *const block = some.pop()) EXPECT_TRUE(taken.insert(block).second);
    }
    for (std::thread &thread : threads) thread.join();
    EXPECT_TRUE(list.take_all().is_empty());
}

struct alignas(kCacheLineBytes) Element {
    std::atomic<Element *> below{nullptr};
    std::atomic<int> holders{0};
};

// What lies below it is read once while another thread comes in between.
struct alignas(kCacheLineBytes) Watched {
    struct Link {
        Watched *load(std::memory_order order) {
            Watched *const read = value.load(order);
            if (auto *const first_time = std::exchange(meanwhile, nullptr)) (*first_time)();
            return read;
        }
        void store(Watched *under, std::memory_order order) { value.store(under, order); }

        std::atomic<Watched *> value{nullptr};
        std::function<void()> *meanwhile = nullptr;
    };
    Link below;
};

// ABA: the top is the same again, and what lay below it is another's.
TEST(LockFreeStackTest, ATopThatWasAwayIsNoLongerTheSame) {
    std::array<Watched, 2> elements;
    LockFreeStack<Watched, kCacheLineBytes> stack;
    for (Watched &element : elements) stack.push(&element);
    Watched *taken = nullptr;
    std::function<void()> other = [&] {
        Watched *const top = stack.pop();
        taken = stack.pop();
        stack.push(top);
    };
    elements[1].below.meanwhile = &other;
    EXPECT_EQ(stack.pop(), &elements[1]);
    EXPECT_EQ(taken, &elements[0]);
    EXPECT_EQ(stack.pop(), nullptr);
}

TEST(LockFreeStackTest, NobodyGetsWhatAnotherHas) {
    std::vector<Element> elements(8);
    LockFreeStack<Element, kCacheLineBytes> stack;
    for (Element &element : elements) stack.push(&element);
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 20000; ++i) {
                Element *const one = stack.pop();
                Element *const two = stack.pop();
                for (Element *const element : {one, two}) {
                    if (element == nullptr) continue;
                    EXPECT_EQ(element->holders.fetch_add(1), 0);
                    element->holders.fetch_sub(1);
                }
                // The order in which they came, so that a stale top meets the element it knows.
                if (one != nullptr) stack.push(one);
                if (two != nullptr) stack.push(two);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
    std::set<Element *> left;
    while (Element *const element = stack.pop()) left.insert(element);
    EXPECT_EQ(left.size(), elements.size());
}

}  // namespace gr::lab::lists_test
