// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stacks that a thread writes into its ring without what it wrote before come out of it whole.
// Invariant: the writing side is the library's own, the reading side the command's.
// Must not know: how stacks are taken.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "commands/record/thread_events.hpp"
#include "recorder/records.hpp"
#include "recorder/sent_stack.hpp"

namespace gr::tool::thread_stacks_test {

using Words = std::vector<std::uintptr_t>;

class ThreadStacks : public testing::Test {
  protected:
    void write(const Words &stack) {
        const std::size_t further = sent_.replace(stack);
        write(std::span(stack).first(stack.size() - further), further);
        sent_.settle(true);
    }
    void write(std::span<const std::uintptr_t> words, std::uint64_t further) {
        Group group;
        group.add_stack(words, further, 1, 1);
        group.add(record_of(Kind::malloc, &group, 8, 1));
        records_.insert(records_.end(), group.records().begin(), group.records().end());
    }
    std::vector<Words> read() { return read_as(&thread_); }
    std::vector<Words> read_as(ThreadEvents *thread) {
        thread->take(records_, process_);
        records_.clear();
        std::vector<Words> all;
        for (const trace::Event &event : thread->events()) {
            Words &stack = all.emplace_back();
            const std::vector<trace::StackNode> &nodes = process_.stacks.new_nodes();
            for (auto node = static_cast<std::uint32_t>(event.stack); node != 0;) {
                stack.push_back(nodes[node - 1].address);
                node = static_cast<std::uint32_t>(nodes[node - 1].parent);
            }
        }
        thread->clear();
        return all;
    }

    RecordingClock clock_;
    ProcessEvents process_{clock_, 0, {}, {}, {}, {}, {}, {}, {}, {}, {}};
    ThreadEvents thread_{trace::ThreadNumber{0}, 1};
    SentStack sent_;
    std::vector<gr_record> records_;
};

Words counted(std::size_t count, std::uintptr_t first) {
    Words words(count);
    for (std::size_t i = 0; i < count; ++i) words[i] = first + i;
    return words;
}

TEST_F(ThreadStacks, AreWholeHoweverTheyChange) {
    std::mt19937 random(1);
    Words stack;
    std::vector<Words> written;
    for (unsigned i = 0; i < 2000; ++i) {
        stack.erase(stack.begin(), stack.begin() + static_cast<std::ptrdiff_t>(random() % (stack.size() + 1)));
        for (std::size_t calls = 1 + random() % 40; calls != 0 && stack.size() < GR_RECORDING_MOST_CALLS; --calls)
            stack.insert(stack.begin(), 1000 + random() % 50);
        write(stack);
        written.push_back(stack);
    }
    EXPECT_EQ(read(), written);
}

TEST_F(ThreadStacks, TheOutermostWordsAreNotRepeated) {
    write(counted(100, 1000));
    const std::size_t first = records_.size();
    Words other = counted(100, 1000);
    other[0] = 1;
    write(other);
    EXPECT_LT(records_.size() - first, first / 8);
    EXPECT_EQ(read(), (std::vector<Words>{counted(100, 1000), other}));
}

TEST_F(ThreadStacks, ALostOneIsNotReferredTo) {
    write(counted(10, 1000));
    sent_.replace(counted(10, 2000));
    sent_.settle(false);
    write(counted(10, 2000));
    EXPECT_EQ(read(), (std::vector<Words>{counted(10, 1000), counted(10, 2000)}));
}

TEST_F(ThreadStacks, AnApartOneIsNotReferredTo) {
    write(counted(10, 1000));
    write(counted(5, 3000), GR_RECORD_STACK_APART);
    write(counted(10, 1000));
    EXPECT_EQ(read(), (std::vector<Words>{counted(10, 1000), counted(5, 3000), counted(10, 1000)}));
}

TEST_F(ThreadStacks, AStackThatComesBackIsNotToldAgain) {
    write(counted(10, 1000));
    write(counted(10, 2000));
    write(counted(10, 1000));
    EXPECT_EQ(read().size(), 3U);
    EXPECT_EQ(process_.stacks.new_nodes().size(), 20U);
}

TEST_F(ThreadStacks, AreReferredToByTheirOwnThread) {
    ThreadEvents other(trace::ThreadNumber{1}, 2);
    write(counted(10, 1000));
    EXPECT_EQ(read(), std::vector<Words>{counted(10, 1000)});
    write(counted(5, 2000), 5);
    EXPECT_EQ(read_as(&other), std::vector<Words>{counted(5, 2000)});
    write(counted(5, 3000), 5);
    Words both = counted(5, 3000);
    for (std::uintptr_t word = 1005; word < 1010; ++word) both.push_back(word);
    EXPECT_EQ(read(), std::vector<Words>{both});
}

// After an unload the words of a stack are calls into the file that lies there by then.
TEST_F(ThreadStacks, TheOutermostWordsAreLookedUpAgainAfterAnUnload) {
    const Words stack = counted(10, 0x1001);
    const auto map = [&](const char *path) { (void)process_.code.update({{0x1000, 0x2000, 0, path, path}}); };
    map("a");
    write(stack);
    EXPECT_EQ(read(), std::vector<Words>{stack});
    map("b");
    Words moved;
    for (const std::uintptr_t word : stack) moved.push_back(process_.code.in_trace(word));
    ASSERT_NE(moved, stack);
    write(stack);
    write(counted(1, 1), stack.size());
    Words longer = moved;
    longer.insert(longer.begin(), 1);
    EXPECT_EQ(read(), (std::vector<Words>{moved, longer}));
}

// What a program may write that is not the library.
TEST_F(ThreadStacks, ThatCannotBeHaveWhatThereIs) {
    write(counted(3, 1000), 100);
    EXPECT_EQ(read(), std::vector<Words>{counted(3, 1000)});
    for (const std::uint64_t further : {std::uint64_t{0}, std::uint64_t{200}}) {
        write(counted(GR_RECORDING_MOST_CALLS, 2000), further);
        EXPECT_EQ(read(), std::vector<Words>{counted(GR_RECORDING_MOST_CALLS, 2000)});
    }
    write(counted(30, 3000), 0);
    records_.resize(4);
    EXPECT_TRUE(read().empty());
}

}  // namespace gr::tool::thread_stacks_test
