// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers against what the test allocated, the counting equation, and the three formats.
// Invariant: every field of gr_statistics is printed, once.
// Must not know: where the text goes.
#include "malloc/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "malloc/fresh_instance.hpp"

namespace gr {
namespace {

using fake::FreshInstance;

void expect_equation(const gr_statistics &s) {
    EXPECT_EQ(s.block_bytes,
              s.live_bytes - s.run_bytes - s.direct_bytes + s.magazine_bytes + s.remote_bytes + s.free_bytes);
    EXPECT_EQ(s.heap_bytes, s.block_bytes + s.tail_bytes + s.run_bytes);
}

TEST(Statistics, CountWhatIsLive) {
    FreshInstance instance;
    std::mt19937 random{6};
    std::vector<void *> blocks;
    std::size_t live = 0;
    for (int step = 0; step < 6000; ++step) {
        if (blocks.size() < 500 || random() % 2 == 0) {
            const std::size_t top = step % 100 == 0 ? 40 * kMiB : step % 10 == 0 ? kMiB : 3000;
            if (void *const p = instance->allocate(random() % top)) {
                blocks.push_back(p);
                live += instance->usable_size("test", p);
            }
        }
        if (blocks.size() > 300 && random() % 2 == 0) {
            std::swap(blocks[random() % blocks.size()], blocks.back());
            live -= instance->usable_size("test", blocks.back());
            instance->free("test", blocks.back());
            blocks.pop_back();
        }
        if (step % 50 != 0) continue;
        const gr_statistics s = count_statistics(*instance);
        ASSERT_EQ(s.live_blocks, blocks.size()) << "step " << step;
        ASSERT_EQ(s.live_bytes, live);
        expect_equation(s);
    }
    for (void *p : blocks) instance->free("test", p);
    const gr_statistics s = count_statistics(*instance);
    EXPECT_EQ(s.live_blocks, 0U);
    EXPECT_EQ(s.live_bytes, 0U);
    EXPECT_EQ(s.run_count + s.direct_count, 0U);
    EXPECT_EQ(s.rseq, instance->heaps().uses_sequences() ? 1U : 0U);
}

TEST(Statistics, RunsAndDirectBlocksAreCountedApart) {
    FreshInstance instance;
    void *const run = instance->allocate(100 * kKiB);
    void *const direct = instance->allocate(33 * kMiB);
    const gr_statistics s = count_statistics(*instance);
    EXPECT_EQ(s.size, sizeof s);
    EXPECT_EQ(s.version, static_cast<std::uint32_t>(GR_STATISTICS_VERSION));
    EXPECT_EQ(s.run_count, 1U);
    EXPECT_EQ(s.run_bytes, 2 * kUnitBytes);
    EXPECT_EQ(s.direct_count, 1U);
    EXPECT_EQ(s.direct_bytes, 33 * kMiB);
    EXPECT_EQ(s.heap_bytes, 2 * kUnitBytes);
    EXPECT_EQ(s.live_blocks, 2U);
    EXPECT_EQ(s.reserved_bytes, instance->region().reserved_bytes());
    EXPECT_EQ(s.metadata_bytes, instance->region().metadata_bytes());
    instance->free("test", run);
    instance->free("test", direct);
    const gr_statistics after = count_statistics(*instance);
    EXPECT_EQ(after.retained_bytes, 2 * kUnitBytes);
    EXPECT_EQ(after.heap_bytes, 0U);
    EXPECT_EQ(after.peak_heap_bytes, 2 * kUnitBytes);
    EXPECT_EQ(after.peak_direct_bytes, 33 * kMiB);
}

TEST(Statistics, MetadataCountsTheSlabsInUse) {
    FreshInstance instance;
    const std::uint64_t before = count_statistics(*instance).metadata_bytes;
    EXPECT_EQ(before, instance->region().metadata_bytes());
    void *const block = instance->allocate(1);  // the first one makes a heap active
    const gr_statistics s = count_statistics(*instance);
    EXPECT_GE(s.heaps, 1U);
    EXPECT_EQ(s.metadata_bytes, before + s.heaps * kSlabBytes);
    instance->free("test", block);
}

void append(void *sink, const Text &line) { static_cast<std::string *>(sink)->append(line.data(), line.size()); }

std::string printed(const gr_statistics &s, StatisticsFormat format) {
    std::string text;
    print_statistics(s, format, append, &text);
    return text;
}

// Each field gets a number of its own, so that a row that prints another's shows.
gr_statistics numbered() {
    gr_statistics s{};
    auto *const fields = &s.live_bytes;
    for (std::uint64_t i = 0; i < (sizeof s - offsetof(gr_statistics, live_bytes)) / sizeof(std::uint64_t); ++i) {
        fields[i] = 90000 + i;
    }
    s.version = 1;
    return s;
}

TEST(Statistics, EveryFieldIsPrintedOnceInEveryFormat) {
    const gr_statistics s = numbered();
    constexpr std::size_t kFields = (sizeof s - offsetof(gr_statistics, live_bytes)) / sizeof(std::uint64_t);
    for (const auto format : {StatisticsFormat::text, StatisticsFormat::json, StatisticsFormat::xml}) {
        const std::string text = printed(s, format);
        for (std::size_t i = 0; i < kFields; ++i) {
            const std::string number = std::to_string(90000 + i);
            const std::size_t at = text.find(number);
            ASSERT_NE(at, std::string::npos) << number << " in\n" << text;
            EXPECT_EQ(text.find(number, at + 1), std::string::npos) << number << " twice";
        }
    }
    EXPECT_NE(printed(s, StatisticsFormat::json).find("\"live_bytes\": 90000,\n"), std::string::npos);
    EXPECT_NE(printed(s, StatisticsFormat::json).find("\"rseq\": 90019\n}\n"), std::string::npos);
    EXPECT_NE(printed(s, StatisticsFormat::xml).find("<run_count>90007</run_count>\n"), std::string::npos);
    EXPECT_EQ(printed(s, StatisticsFormat::text).find("live_bytes"), 0U);
}

TEST(Statistics, TellWhoseTheyAre) {
    const Origin origin{4711, R"(say "a\b")"};
    const auto told = [&](StatisticsFormat format) {
        std::string text;
        print_statistics(numbered(), format, append, &text, &origin);
        return text;
    };
    EXPECT_EQ(told(StatisticsFormat::text).find("granary: statistics of process 4711: say \"a\\b\"\nlive_bytes"), 0U);
    EXPECT_EQ(told(StatisticsFormat::json)
                  .find("{\n  \"version\": 1,\n  \"pid\": 4711,\n  \"command\": "
                        "\"say \\\"a\\\\b\\\"\",\n  \"live_bytes\""),
              0U)
        << told(StatisticsFormat::json);
    EXPECT_EQ(told(StatisticsFormat::xml), printed(numbered(), StatisticsFormat::xml));
}

}  // namespace
}  // namespace gr
