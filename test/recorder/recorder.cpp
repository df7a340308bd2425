// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what libgranary-record.so tells of programs whose calls are known, over each of three allocators.
// Invariant: nothing depends on time but for what is too long to be anything but a wait.
// Must not know: the library's sources.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "reader.hpp"

namespace {

const std::string kProgram = CALLS_PROGRAM;
constexpr const char *kAllocators[] = {"", GRANARY_LIBRARY, BUMP_LIBRARY};

std::string name_of(const testing::TestParamInfo<const char *> &allocator) {
    constexpr const char *kNames[] = {"libc", "granary", "bump"};
    return kNames[allocator.index];
}

class Over : public testing::TestWithParam<const char *> {
  protected:
    static Wanted over() {
        Wanted wanted;
        wanted.preload_behind = GetParam();
        return wanted;
    }
};
INSTANTIATE_TEST_SUITE_P(Allocators, Over, testing::ValuesIn(kAllocators), name_of);

bool ends_well(const Recorded &recorded) {
    EXPECT_TRUE(WIFEXITED(recorded.status)) << "signal " << WTERMSIG(recorded.status);
    EXPECT_EQ(0, WEXITSTATUS(recorded.status));
    EXPECT_EQ(std::vector<std::string>{}, recorded.errors);
    return WIFEXITED(recorded.status) && WEXITSTATUS(recorded.status) == 0;
}

std::vector<Event> without(std::vector<Event> events, std::set<unsigned> kinds) {
    std::erase_if(events, [&](const Event &event) { return kinds.contains(event.kind); });
    return events;
}

std::vector<Event> calls_of(const Recorded &recorded) {
    return without(between_marks(recorded), {GR_RECORD_NAME, GR_RECORD_THREAD_STACK, GR_RECORD_OWN_MEMORY,
                                             GR_RECORD_MAP, GR_RECORD_UNMAP, GR_RECORD_ADVISE, GR_RECORD_BREAK});
}

std::uint64_t pairs_of_size(const Recorded &recorded, std::uint64_t size) {
    std::uint64_t found = 0;
    for (const auto &[thread, events] : recorded.events) {
        for (std::size_t i = 0; i + 1 < events.size(); ++i) {
            found += events[i].kind == GR_RECORD_MALLOC && events[i].size == size &&
                     events[i + 1].kind == GR_RECORD_FREE && events[i + 1].address == events[i].address;
        }
    }
    return found;
}

// For each size from 1 to count a pair.
void expect_pairs(const std::vector<Event> &events, std::uint64_t count) {
    std::vector<Event> pairs = events;
    std::erase_if(pairs,
                  [](const Event &event) { return event.kind != GR_RECORD_MALLOC && event.kind != GR_RECORD_FREE; });
    const auto first = std::find_if(pairs.begin(), pairs.end(), [=](const Event &event) {
        return event.kind == GR_RECORD_MALLOC && event.size == count;
    });
    ASSERT_LE(2 * count, static_cast<std::uint64_t>(pairs.end() - first));
    for (std::uint64_t i = 0; i < count; ++i) {
        const Event &obtained = first[static_cast<std::ptrdiff_t>(2 * i)];
        const Event &freed = first[static_cast<std::ptrdiff_t>(2 * i + 1)];
        ASSERT_EQ(GR_RECORD_MALLOC, obtained.kind);
        ASSERT_EQ(count - i, obtained.size);
        ASSERT_EQ(GR_RECORD_FREE, freed.kind);
        ASSERT_EQ(obtained.address, freed.address);
        ASSERT_LE(obtained.time, freed.time);
    }
}

class Script : public Over {
  protected:
    static void expect(const char *scene) {
        const Recorded recorded = record(over(), {kProgram, scene});
        ASSERT_TRUE(ends_well(recorded));
        EXPECT_FALSE(recorded.output.empty());
        EXPECT_EQ(recorded.output, lines(calls_of(recorded)));
    }
};
INSTANTIATE_TEST_SUITE_P(Allocators, Script, testing::ValuesIn(kAllocators), name_of);

TEST_P(Script, Family) { expect("family"); }
TEST_P(Script, Failures) { expect("failures"); }
TEST_P(Script, NewHandler) { expect("new_handler"); }
TEST_P(Script, Operators) { expect("operators"); }
TEST_P(Script, Forks) { expect("forks"); }
TEST_P(Script, Clones) { expect("clones"); }
TEST_P(Script, Vforks) { expect("vforks"); }
TEST_P(Script, Mappings) { expect("mappings"); }

TEST_P(Over, ArrivalTellsAllocator) {
    const Recorded recorded = record(over(), {kProgram, "pair"});
    ASSERT_TRUE(ends_well(recorded));
    ASSERT_EQ(1U, recorded.processes.size());
    EXPECT_EQ(1U, recorded.left);
    const std::string expected = GetParam() == std::string() ? "libc.so.6" : GetParam();
    EXPECT_NE(std::string::npos, recorded.processes[0].second.find(expected.substr(expected.rfind('/') + 1)))
        << recorded.processes[0].second;
    EXPECT_EQ(1U, pairs_of_size(recorded, 55));
}

TEST_P(Over, ThrowsWithoutMemory) {
    const Recorded recorded = record(over(), {kProgram, "throws"});
    ASSERT_TRUE(ends_well(recorded));
    const std::vector<Event> events = calls_of(recorded);
    ASSERT_FALSE(events.empty());
    EXPECT_EQ("5 0 72057594037927935 0\n", lines({events[0]}));
}

TEST_P(Over, Names) {
    const Recorded recorded = record(over(), {kProgram, "names"});
    ASSERT_TRUE(ends_well(recorded));
    ASSERT_EQ(2U, recorded.events.size());
    const auto &[thread, events] = *recorded.events.rbegin();
    std::string names;
    for (const Event &event : events) names += event.kind == GR_RECORD_NAME ? event.text + ";" : "";
    EXPECT_EQ("calls;second;", names);
    EXPECT_EQ(1U, pairs_of_size(recorded, 77));
}

TEST_P(Over, TwoThreads) {
    const Recorded recorded = record(over(), {kProgram, "threads"});
    ASSERT_TRUE(ends_well(recorded));
    ASSERT_EQ(3U, recorded.events.size());
    for (auto each = std::next(recorded.events.begin()); each != recorded.events.end(); ++each)
        expect_pairs(each->second, 20000);
}

TEST_P(Over, ThousandThreadsShareRings) {
    Wanted wanted = over();
    wanted.rings = 8;
    const Recorded recorded = record(wanted, {kProgram, "many_threads"});
    ASSERT_TRUE(ends_well(recorded));
    for (const std::uint64_t size : {1U, 2U, 3U}) EXPECT_EQ(1000U, pairs_of_size(recorded, size));
    EXPECT_EQ(0U, recorded.lost_at_end);
}

TEST_P(Over, SmallRingLosesNothing) {
    Wanted wanted = over();
    wanted.ring_records = GR_RECORDING_LEAST_RECORDS;
    wanted.pause_microseconds = 10;
    const Recorded recorded = record(wanted, {kProgram, "many_calls"});
    ASSERT_TRUE(ends_well(recorded));
    expect_pairs(recorded.events.begin()->second, 50000);
    EXPECT_EQ(0U, recorded.count(GR_RECORD_LOST));
}

TEST_P(Over, LossyCountsWhatItLost) {
    Wanted wanted = over();
    wanted.ring_records = GR_RECORDING_LEAST_RECORDS;
    wanted.flags = GR_RECORDING_LOSSY;
    const Recorded all = record(over(), {kProgram, "many_calls"});
    const Recorded recorded = record(wanted, {kProgram, "many_calls"});
    ASSERT_TRUE(ends_well(recorded));
    ASSERT_TRUE(ends_well(all));
    const auto total = [](const Recorded &of) {
        std::uint64_t calls = of.lost_at_end;
        for (const Event &event : of.events.begin()->second)
            calls +=
                event.kind == GR_RECORD_LOST ? event.size : event.kind < GR_RECORD_MAP || event.kind >= GR_RECORD_MARK;
        return calls;
    };
    EXPECT_LT(100000U, total(all));
    EXPECT_EQ(total(all), total(recorded));
}

TEST_P(Over, LossyAtEnd) {
    Wanted wanted = over();
    wanted.ring_records = GR_RECORDING_LEAST_RECORDS;
    wanted.flags = GR_RECORDING_LOSSY;
    wanted.lets_short_of_room = true;
    const Recorded recorded = record(wanted, {kProgram, "few_calls"});
    ASSERT_TRUE(ends_well(recorded));
    EXPECT_LT(900U, recorded.lost_at_end + recorded.count(GR_RECORD_LOST));
}

TEST_P(Over, ClockOfSystem) {
    Wanted wanted = over();
    wanted.clock = GR_CLOCK_MONOTONIC;
    const Recorded recorded = record(wanted, {kProgram, "many_calls"});
    ASSERT_TRUE(ends_well(recorded));
    expect_pairs(recorded.events.begin()->second, 50000);
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const auto &events = recorded.events.begin()->second;
    const auto end = static_cast<std::uint64_t>(now.tv_sec + 1) * 1'000'000'000;
    EXPECT_LT(events.back().time, end);
    EXPECT_LT(end - 600'000'000'000, events.front().time + 1);
}

TEST_P(Over, ForkedChildIsProcessOfItsOwn) {
    for (const char *const scene : {"forks", "clones"}) {
        const Recorded recorded = record(over(), {kProgram, scene});
        ASSERT_TRUE(ends_well(recorded));
        EXPECT_EQ(2U, recorded.processes.size());
        ASSERT_EQ(2U, recorded.events.size());
        const std::vector<Event> &child = recorded.events.rbegin()->second;
        EXPECT_EQ(GR_RECORD_NAME, child.front().kind);
        EXPECT_EQ(1U, pairs_of_size(recorded, 22));
        for (const Event &event : recorded.events.begin()->second) EXPECT_NE(22U, event.size);
    }
}

TEST_P(Over, ExecutedProgramGoesOn) {
    const Recorded recorded = record(
        [] {
            Wanted wanted = over();
            wanted.environment = {};
            return wanted;
        }(),
        {kProgram, "executes"});
    ASSERT_TRUE(ends_well(recorded));
    ASSERT_EQ(2U, recorded.processes.size());
    EXPECT_EQ(recorded.processes[0].first, recorded.processes[1].first);
    EXPECT_EQ(1U, pairs_of_size(recorded, 44));
    EXPECT_EQ(1U, pairs_of_size(recorded, 55));
}

TEST_P(Over, ChildOfVforkStartsProgram) {
    const Recorded recorded = record(over(), {kProgram, "vforks"});
    ASSERT_TRUE(ends_well(recorded));
    EXPECT_EQ(2U, recorded.processes.size());
    EXPECT_EQ(1U, pairs_of_size(recorded, 55));
    EXPECT_EQ(1U, pairs_of_size(recorded, 12));
}

TEST_P(Over, EndsWithoutDestructors) {
    for (const char *const scene : {"quick", "at_once"}) {
        const Recorded recorded = record(over(), {kProgram, scene});
        ASSERT_TRUE(ends_well(recorded));
        EXPECT_LE(1U, recorded.left) << scene;
        EXPECT_EQ(1U, pairs_of_size(recorded, 55));
    }
}

TEST_P(Over, DescriptorsAreThePrograms) {
    const Recorded plain = record(over(), {kProgram, "descriptors"});
    ASSERT_TRUE(ends_well(plain));
    EXPECT_EQ("0 0 3 0\n", plain.output);
    const Recorded recorded = record(over(), {kProgram, "closes"});
    ASSERT_TRUE(ends_well(recorded));
    ASSERT_EQ(3U, recorded.events.size());
    for (auto each = std::next(recorded.events.begin()); each != recorded.events.end(); ++each)
        expect_pairs(each->second, 20000);
}

TEST_P(Over, RecorderDies) {
    for (const std::uint64_t records : {1U, 100U, 10000U}) {
        Wanted wanted = over();
        wanted.ring_records = 256;
        wanted.dies_after = records;
        const Recorded recorded = record(wanted, {kProgram, "many_calls"});
        EXPECT_TRUE(ends_well(recorded)) << records;
        EXPECT_LE(records, 20000 - recorded.count(GR_RECORD_LOST));
    }
}

TEST_P(Over, Refused) {
    Wanted wanted = over();
    wanted.refuses = true;
    const Recorded recorded = record(wanted, {kProgram, "threads"});
    ASSERT_TRUE(ends_well(recorded));
    EXPECT_TRUE(recorded.events.empty());
}

TEST_P(Over, WithoutRecordingNothingIsTold) {
    Wanted wanted = over();
    wanted.hides = true;
    for (const char *const scene : {"family", "operators", "threads", "forks", "failures", "executes"}) {
        const Recorded recorded = record(wanted, {kProgram, scene});
        ASSERT_TRUE(ends_well(recorded)) << scene;
        EXPECT_TRUE(recorded.processes.empty());
    }
}

TEST_P(Over, StormOfForks) {
    Wanted wanted = over();
    wanted.rings = 16;
    const Recorded recorded = record(wanted, {kProgram, "storm"});
    ASSERT_TRUE(ends_well(recorded));
    EXPECT_EQ(101U, recorded.processes.size());
    EXPECT_EQ(100U, pairs_of_size(recorded, 2222));
    for (const auto &[thread, events] : recorded.events) {
        if (thread.process != recorded.processes[0].first) expect_pairs(events, 40);
    }
}

TEST_P(Over, AllStacks) {
    Wanted wanted = over();
    wanted.stack_bytes = 1;
    const Recorded recorded = record(wanted, {kProgram, "stacks"});
    ASSERT_TRUE(ends_well(recorded));
    unsigned long long innermost = 0;
    ASSERT_EQ(1, std::sscanf(recorded.output.c_str(), "1 %llx", &innermost));
    bool is_found = false;
    for (const Event &event : between_marks(recorded)) {
        if (event.kind != GR_RECORD_MALLOC || event.size != 66) continue;
        ASSERT_LE(2U, event.stack.size());
        ASSERT_GE(16U, event.stack.size());
        EXPECT_LT(innermost, event.stack[0]);
        EXPECT_GT(innermost + 100, event.stack[0]);
        is_found = true;
    }
    EXPECT_TRUE(is_found);
}

std::uint64_t depth_of(const std::vector<std::uint64_t> &stack) {
    std::uint64_t depth = 0;
    for (const std::uint64_t word : stack)
        depth += (word & GR_RECORDED_CALLS_LEFT_OUT) != 0 ? word & ~GR_RECORDED_CALLS_LEFT_OUT : 1;
    return depth;
}

// The function that called last, of the outermost calls: which of the ways, and not the one that went before.
TEST_P(Over, DeepStacksKeepBothEnds) {
    Wanted wanted = over();
    wanted.stack_bytes = 1;
    wanted.stack_calls = 32;
    const Recorded recorded = record(wanted, {kProgram, "deep"});
    ASSERT_TRUE(ends_well(recorded));
    unsigned long long ways[3] = {};
    unsigned long long results[3] = {};
    ASSERT_EQ(6, std::sscanf(recorded.output.c_str(), "0 %llx %llu 0\n0 %llx %llu 0\n0 %llx %llu 0", &ways[0],
                             &results[0], &ways[1], &results[1], &ways[2], &results[2]));
    std::size_t seen = 0;
    std::uint64_t outer_calls = 0;  // from the first of the descent outward
    for (const Event &event : between_marks(recorded)) {
        if (event.kind != GR_RECORD_MALLOC) continue;
        const std::uint64_t calls = 20001 - (event.size - 1);  // of the descent
        const std::uint64_t way = ways[seen++ / 21];
        const std::uint64_t depth = depth_of(event.stack);
        if (outer_calls == 0) outer_calls = depth - calls;
        EXPECT_EQ(outer_calls + calls, depth) << event.size;
        EXPECT_EQ(depth > 32 ? 33U : depth, event.stack.size());
        const auto goes = [&](std::uint64_t word) { return word - way < 64; };
        EXPECT_EQ(1, std::count_if(event.stack.begin(), event.stack.end(), goes)) << seen;
    }
    EXPECT_EQ(63U, seen);
}

TEST_P(Over, SampledStacks) {
    Wanted wanted = over();
    wanted.stack_bytes = 10000;
    const Recorded recorded = record(wanted, {kProgram, "bytes"});
    ASSERT_TRUE(ends_well(recorded));
    std::uint64_t with = 0;
    for (const Event &event : between_marks(recorded)) with += !event.stack.empty();
    const double expected = 10000 * (1 - std::exp(-0.1));
    EXPECT_NEAR(expected, static_cast<double>(with), 8 * std::sqrt(expected));
}

TEST_P(Over, TimedCalls) {
    Wanted wanted = over();
    wanted.timed_calls = 10;
    const Recorded recorded = record(wanted, {kProgram, "bytes"});
    ASSERT_TRUE(ends_well(recorded));
    double obtained = 0;
    double freed = 0;
    for (const Event &event : between_marks(recorded))
        (event.kind == GR_RECORD_FREE ? freed : obtained) += event.ticks != 0;
    EXPECT_NEAR(1000, obtained, 200);
    EXPECT_NEAR(1000, freed, 200);
}

TEST_P(Over, AllTimed) {
    Wanted wanted = over();
    wanted.timed_calls = 1;
    wanted.stack_bytes = 1;
    wanted.ring_records = GR_RECORDING_LEAST_RECORDS;
    const Recorded recorded = record(wanted, {kProgram, "family"});
    ASSERT_TRUE(ends_well(recorded));
    EXPECT_EQ(recorded.output, lines(calls_of(recorded)));
    // The last of a call's records has its time.
    std::uint64_t untimed = 0;
    for (const Event &event : calls_of(recorded)) untimed += event.ticks == 0;
    EXPECT_EQ(recorded.count(GR_RECORD_REALLOC_FREE) - 1, untimed);
}

TEST(Recorder, AllocatesWhileItIsRelocated) {
    for (const char *const allocator : {"", GRANARY_LIBRARY}) {
        Wanted wanted;
        wanted.preload_behind = allocator;
        const Recorded recorded = record(wanted, {EARLY_PROGRAM});
        EXPECT_TRUE(ends_well(recorded));
        EXPECT_EQ(1U, recorded.processes.size());
        wanted.hides = true;
        EXPECT_TRUE(ends_well(record(wanted, {EARLY_PROGRAM})));
    }
}

TEST(Recorder, LibcsOwnNames) {
    const Recorded recorded = record({}, {kProgram, "libcs"});
    ASSERT_TRUE(ends_well(recorded));
    EXPECT_EQ(recorded.output, lines(calls_of(recorded)));
}

// A handler that allocates, within the allocator, within a walk of the stack and within the writing of records. The stacks of
// calls that it interrupts are all the same.
TEST(Recorder, HandlersLoseNothing) {
    for (const auto &[records, stack_bytes] : {std::pair(64U, 0U), std::pair(4096U, 0U), std::pair(4096U, 1U)}) {
        Wanted wanted;
        wanted.preload_behind = BUMP_LIBRARY;
        wanted.ring_records = records;
        wanted.stack_bytes = stack_bytes;
        wanted.pause_microseconds = 10;
        const Recorded recorded = record(wanted, {kProgram, "interrupted"});
        ASSERT_TRUE(ends_well(recorded));
        unsigned long long calls = 0;
        unsigned long long signals = 0;
        ASSERT_EQ(2, std::sscanf(recorded.output.c_str(), "0 0 %llu 0 1 0 %llu 0", &calls, &signals));
        std::map<std::uint64_t, std::uint64_t> sizes;
        std::map<std::uint64_t, std::set<std::vector<std::uint64_t>>> stacks;
        std::uint64_t freed = 0;
        for (const Event &event : between_marks(recorded)) {
            if (event.kind == GR_RECORD_MALLOC) {
                ++sizes[event.size];
                EXPECT_EQ(stack_bytes == 0, event.stack.empty()) << event.size;
                stacks[event.size].insert(event.stack);
            }
            freed += event.kind == GR_RECORD_FREE;
        }
        EXPECT_EQ(calls, sizes[7]);
        EXPECT_EQ(1U, stacks[7].size());
        EXPECT_EQ(signals, sizes[5]);
        EXPECT_EQ(signals, sizes[6]);
        EXPECT_EQ(calls + 2 * signals, freed);
        EXPECT_EQ(0U, recorded.lost_at_end + recorded.count(GR_RECORD_LOST));
    }
}

TEST(Recorder, WhatTheAllocatorAsksOfTheKernel) {
    Wanted wanted;
    wanted.preload_behind = BUMP_LIBRARY;
    const Recorded recorded = record(wanted, {kProgram, "pair"});
    ASSERT_TRUE(ends_well(recorded));
    std::vector<Event> asked;
    for (const Event &event : recorded.events.begin()->second) {
        if (event.kind >= GR_RECORD_MAP && event.kind < GR_RECORD_MARK) asked.push_back(event);
    }
    ASSERT_EQ(7U, asked.size()) << lines(asked);
    constexpr std::uint64_t kArena = std::uint64_t{64} << 20;
    const unsigned kinds[] = {GR_RECORD_MAP,   GR_RECORD_UNMAP,  GR_RECORD_MAP,  GR_RECORD_MAP,
                              GR_RECORD_UNMAP, GR_RECORD_ADVISE, GR_RECORD_BREAK};
    const std::uint64_t sizes[] = {kArena / 2, kArena / 2, kArena, 4096, 4096, 8192, 64};
    for (std::size_t i = 0; i < asked.size(); ++i) {
        EXPECT_EQ(kinds[i], asked[i].kind) << i;
        EXPECT_EQ(sizes[i], asked[i].size) << i;
    }
    EXPECT_EQ(asked[0].address, asked[1].address);
    EXPECT_EQ(asked[2].address, asked[5].address);
    EXPECT_EQ(asked[3].address, asked[4].address);
    EXPECT_EQ(4U, asked[5].above);  // MADV_DONTNEED
}

}  // namespace
