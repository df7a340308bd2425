// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the numbers against what the test allocated, the counting equation, and the four formats.
// Invariant: every field of gr_statistics is printed, once.
// Must not know: where the text goes.
#include "instance/statistics_text.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "instance/fresh_instance.hpp"

namespace gr::statistics_test {

using fake::FreshInstance;

void expect_equation(const gr_statistics &s) {
    EXPECT_EQ(s.block_bytes,
              s.live_bytes - s.run_bytes - s.direct_bytes + s.magazine_bytes + s.remote_bytes + s.free_bytes);
    EXPECT_EQ(s.heap_bytes, s.block_bytes + s.tail_bytes + s.run_bytes);
}

std::vector<gr_class_statistics> rows_of(const Instance &allocator) {
    std::vector<gr_class_statistics> rows(HeapCount::kRows);
    rows[0].size = sizeof rows[0];
    EXPECT_TRUE(copy_rows(allocator, rows.data(), rows.size()));
    return rows;
}

void expect_sums(const std::vector<gr_class_statistics> &rows, const gr_statistics &whole) {
    gr_statistics sum{};
    std::uint64_t address_bytes = 0;
    for (const gr_class_statistics &row : rows) {
        sum.live_blocks += row.live_blocks;
        sum.live_bytes += row.live_bytes;
        sum.magazine_blocks += row.magazine_blocks;
        sum.magazine_bytes += row.magazine_blocks * row.block_size;
        sum.remote_bytes += row.remote_blocks * row.block_size;
        sum.free_blocks += row.free_blocks;
        sum.free_bytes += row.free_blocks * row.block_size;
        sum.superblocks += row.superblocks;
        sum.global_superblocks += row.global_superblocks;
        address_bytes += row.address_bytes;
        ASSERT_EQ(row.superblocks * row.superblock_blocks * (row.kind == GR_CLASS_BLOCKS),
                  (row.live_blocks + row.magazine_blocks + row.remote_blocks + row.free_blocks) *
                      (row.kind == GR_CLASS_BLOCKS));
    }
    EXPECT_EQ(sum.live_blocks, whole.live_blocks);
    EXPECT_EQ(sum.live_bytes, whole.live_bytes);
    EXPECT_EQ(sum.magazine_blocks, whole.magazine_blocks);
    EXPECT_EQ(sum.magazine_bytes, whole.magazine_bytes);
    EXPECT_EQ(sum.remote_bytes, whole.remote_bytes);
    EXPECT_EQ(sum.free_blocks, whole.free_blocks);
    EXPECT_EQ(sum.free_bytes, whole.free_bytes);
    EXPECT_EQ(sum.superblocks, whole.superblocks);
    EXPECT_EQ(sum.global_superblocks, whole.global_superblocks);
    EXPECT_EQ(address_bytes, whole.heap_bytes + whole.direct_bytes);
}

// How many blocks of each usable size are live; a size above all classes' counts as one of its kind.
using Population = std::map<std::size_t, std::uint64_t>;

void expect_population(const std::vector<gr_class_statistics> &rows, const Population &population) {
    for (const gr_class_statistics &row : rows) {
        if (row.kind != GR_CLASS_BLOCKS) continue;
        const auto found = population.find(row.block_size);
        ASSERT_EQ(row.live_blocks, found == population.end() ? 0 : found->second) << row.block_size;
    }
}

TEST(Statistics, CountWhatIsLive) {
    FreshInstance instance;
    std::mt19937 random{6};
    std::vector<void *> blocks;
    std::size_t live = 0;
    Population population;
    for (int step = 0; step < 6000; ++step) {
        if (blocks.size() < 500 || random() % 2 == 0) {
            const std::size_t top = step % 100 == 0 ? 40 * kMiB : step % 10 == 0 ? kMiB : 3000;
            if (void *const p = instance->allocate(random() % top)) {
                blocks.push_back(p);
                live += instance->usable_size("test", p);
                ++population[instance->usable_size("test", p)];
            }
        }
        if (blocks.size() > 300 && random() % 2 == 0) {
            std::swap(blocks[random() % blocks.size()], blocks.back());
            live -= instance->usable_size("test", blocks.back());
            --population[instance->usable_size("test", blocks.back())];
            instance->free("test", blocks.back());
            blocks.pop_back();
        }
        if (step % 50 != 0) continue;
        const gr_statistics s = count_statistics(*instance);
        ASSERT_EQ(s.live_blocks, blocks.size()) << "step " << step;
        ASSERT_EQ(s.live_bytes, live);
        expect_equation(s);
        const std::vector<gr_class_statistics> rows = rows_of(*instance);
        expect_sums(rows, s);
        expect_population(rows, population);
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

TEST(Statistics, ARowForEachClassThenForRunsAndForDirectBlocks) {
    FreshInstance instance;
    void *const run = instance->allocate(100 * kKiB);
    void *const direct = instance->allocate(33 * kMiB);
    const std::vector<gr_class_statistics> rows = rows_of(*instance);
    for (std::uint32_t c = 1; c < kClassCount; ++c) {
        const gr_class_statistics &row = rows[c - 1];
        EXPECT_EQ(row.size, sizeof row);
        EXPECT_EQ(row.version, static_cast<std::uint32_t>(GR_CLASS_STATISTICS_VERSION));
        EXPECT_EQ(row.kind, static_cast<std::uint64_t>(GR_CLASS_BLOCKS));
        EXPECT_EQ(row.block_size, size_of_class(ClassIndex(c)));
        EXPECT_EQ(row.superblock_blocks, shape_of(ClassIndex(c)).blocks);
        EXPECT_EQ(row.superblocks + row.live_blocks + row.address_bytes, 0U);
    }
    const gr_class_statistics &runs = rows[HeapCount::kRows - 2];
    EXPECT_EQ(runs.kind, static_cast<std::uint64_t>(GR_CLASS_RUNS));
    EXPECT_EQ(runs.live_blocks, 1U);
    EXPECT_EQ(runs.live_bytes, 2 * kUnitBytes);
    EXPECT_EQ(runs.address_bytes, 2 * kUnitBytes);
    EXPECT_EQ(runs.block_size + runs.superblocks + runs.free_blocks, 0U);
    const gr_class_statistics &directs = rows[HeapCount::kRows - 1];
    EXPECT_EQ(directs.kind, static_cast<std::uint64_t>(GR_CLASS_DIRECT));
    EXPECT_EQ(directs.live_blocks, 1U);
    EXPECT_EQ(directs.live_bytes, 33 * kMiB);
    EXPECT_EQ(directs.address_bytes, 33 * kMiB);
    instance->free("test", run);
    instance->free("test", direct);
    expect_sums(rows_of(*instance), count_statistics(*instance));
}

TEST(Statistics, BlocksInMagazinesAndRemoteBlocksCountInTheirClass) {
    FreshInstance instance;
    constexpr std::size_t kSize = 48;
    std::vector<void *> blocks(3000);
    for (void *&block : blocks) block = instance->allocate(kSize);
    // Half of them by a thread that may run elsewhere.
    std::thread([&] {
        for (std::size_t i = 0; i < blocks.size() / 2; ++i) instance->free("test", blocks[i]);
    }).join();
    blocks.erase(blocks.begin(), blocks.begin() + 1500);
    for (std::size_t i = 100; i < blocks.size(); ++i) instance->free("test", blocks[i]);
    blocks.resize(100);
    const std::vector<gr_class_statistics> rows = rows_of(*instance);
    const gr_class_statistics &row = rows[class_of(kSize).value - 1];
    EXPECT_EQ(row.live_blocks, blocks.size());
    EXPECT_EQ(row.live_bytes, blocks.size() * kSize);
    EXPECT_GT(row.magazine_blocks, 0U);
    EXPECT_GT(row.free_blocks, 0U);
    EXPECT_EQ(row.address_bytes, row.superblocks * shape_of(class_of(kSize)).bytes());
    expect_sums(rows, count_statistics(*instance));
    for (void *const block : blocks) instance->free("test", block);
}

TEST(Statistics, RowsNegotiateTheirSizeAndTheirNumber) {
    FreshInstance instance;
    void *const block = instance->allocate(16);
    struct Longer {
        gr_class_statistics known;
        std::uint64_t more;
    };
    constexpr std::uint64_t kUntouched = 0x7777777777777777;
    std::vector<Longer> longer(HeapCount::kRows + 1);
    for (Longer &row : longer) {
        row.known.live_blocks = kUntouched;
        row.more = kUntouched;
    }
    longer[0].known.size = sizeof(Longer);
    ASSERT_TRUE(copy_rows(*instance, &longer[0].known, longer.size()));
    EXPECT_EQ(longer[0].known.size, sizeof(gr_class_statistics));
    EXPECT_EQ(longer[0].known.live_blocks, 1U);
    EXPECT_EQ(longer[HeapCount::kRows - 1].known.kind, static_cast<std::uint64_t>(GR_CLASS_DIRECT));
    EXPECT_EQ(longer[HeapCount::kRows].known.live_blocks, kUntouched) << "a row more than there are";
    for (const Longer &row : longer) EXPECT_EQ(row.more, kUntouched);

    // Only the head, the kind and the size of a block; only two rows.
    std::vector<std::uint64_t> shorter(12, kUntouched);
    auto *const first = reinterpret_cast<gr_class_statistics *>(shorter.data());
    first->size = 24;
    ASSERT_TRUE(copy_rows(*instance, first, 2));
    EXPECT_EQ(first->size, 24U);
    EXPECT_EQ(shorter[2], 16U);
    EXPECT_EQ(shorter[5], 32U);
    for (std::size_t i = 6; i < shorter.size(); ++i) EXPECT_EQ(shorter[i], kUntouched);

    for (const std::uint32_t size : {0U, 7U, 12U}) {
        first->size = size;
        EXPECT_FALSE(copy_rows(*instance, first, 1)) << size;
    }
    EXPECT_FALSE(copy_rows(*instance, nullptr, 1));
    EXPECT_TRUE(copy_rows(*instance, nullptr, 0));
    instance->free("test", block);
}

TEST(Statistics, MetadataCountsTheSlabsInUse) {
    FreshInstance instance;
    const std::uint64_t before = count_statistics(*instance).metadata_bytes;
    EXPECT_EQ(before, instance->region().metadata_bytes());
    void *const block =
        instance->allocate(kKiB);  // the first one makes a heap active, and no table grows for its class
    const gr_statistics s = count_statistics(*instance);
    EXPECT_GE(s.heaps, 1U);
    EXPECT_EQ(s.metadata_bytes, before + s.heaps * kSlabBytes);
    instance->free("test", block);
}

void append(void *sink, const Text &line) { static_cast<std::string *>(sink)->append(line.data(), line.size()); }

std::string printed(const gr_statistics &s, StatisticsFormat format) {
    std::string text;
    print_statistics(s, nullptr, format, append, &text);
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
    for (const auto format :
         {StatisticsFormat::text, StatisticsFormat::json, StatisticsFormat::xml, StatisticsFormat::prometheus}) {
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
    Origin origin{4711, R"(say "a\b")"};
    const auto told = [&](StatisticsFormat format) {
        std::string text;
        print_statistics(numbered(), nullptr, format, append, &text, &origin);
        return text;
    };
    EXPECT_EQ(told(StatisticsFormat::text).find("granary: statistics of process 4711: say \"a\\b\"\nlive_bytes"), 0U);
    EXPECT_EQ(told(StatisticsFormat::json)
                  .find("{\n  \"version\": 1,\n  \"pid\": 4711,\n  \"command\": "
                        "\"say \\\"a\\\\b\\\"\",\n  \"live_bytes\""),
              0U)
        << told(StatisticsFormat::json);
    EXPECT_EQ(told(StatisticsFormat::xml), printed(numbered(), StatisticsFormat::xml));
    const std::string prometheus = told(StatisticsFormat::prometheus);
    EXPECT_NE(prometheus.find("\ngranary_process_info{pid=\"4711\",command=\"say \\\"a\\\\b\\\"\"} 1\n"),
              std::string::npos)
        << prometheus;
    EXPECT_NE(prometheus.find("\ngranary_live_bytes{pid=\"4711\"} 90000\n"), std::string::npos) << prometheus;
    origin.is_prefixed = true;
    EXPECT_EQ(told(StatisticsFormat::text).find("granary-prefixed: statistics of process 4711: "), 0U);
    EXPECT_NE(told(StatisticsFormat::json).find(",\n  \"library\": \"granary-prefixed\",\n  \"live_bytes\""),
              std::string::npos);
    EXPECT_NE(told(StatisticsFormat::prometheus)
                  .find("\ngranary_live_bytes{pid=\"4711\",library=\"granary-prefixed\"} 90000\n"),
              std::string::npos);
}

TEST(Statistics, PrometheusGetsATypeAndOneNameForEach) {
    const std::string text = printed(numbered(), StatisticsFormat::prometheus);
    EXPECT_EQ(text.find("# HELP granary_live_bytes in use by the program, in usable bytes\n"
                        "# TYPE granary_live_bytes gauge\n"
                        "granary_live_bytes 90000\n"
                        "# HELP granary_live_blocks "),
              0U)
        << text;
    // What only grows, and names that end in what Prometheus reserves.
    EXPECT_NE(text.find("# TYPE granary_purged_bytes_total counter\ngranary_purged_bytes_total 90017\n"),
              std::string::npos);
    EXPECT_NE(text.find("\ngranary_run_blocks 90007\n"), std::string::npos);
    EXPECT_EQ(text.find("_count"), std::string::npos);
}

// Two classes, a run and a direct block, in each format that has a place for them.
TEST(Statistics, ClassesWithSuperblocksArePrinted) {
    FreshInstance instance;
    const std::vector<void *> blocks = {instance->allocate(40), instance->allocate(48), instance->allocate(3000),
                                        instance->allocate(100 * kKiB), instance->allocate(33 * kMiB)};
    const auto told = [&](StatisticsFormat format, Classes classes) {
        std::string text;
        print_statistics(*instance, classes, format, append, &text);
        return text;
    };
    const std::string prometheus = told(StatisticsFormat::prometheus, Classes::yes);
    EXPECT_NE(prometheus.find("# TYPE granary_class_live_blocks gauge\n"
                              "granary_class_live_blocks{size=\"48\"} 2\n"
                              "granary_class_live_blocks{size=\"3072\"} 1\n"
                              "granary_class_live_blocks{size=\"runs\"} 1\n"
                              "granary_class_live_blocks{size=\"direct\"} 1\n"
                              "# HELP granary_class_live_bytes "),
              std::string::npos)
        << prometheus;
    EXPECT_EQ(told(StatisticsFormat::prometheus, Classes::no).find("granary_class"), std::string::npos);
    const std::string json = told(StatisticsFormat::json, Classes::yes);
    EXPECT_NE(json.find("\n  \"classes\": [\n    {\"kind\": \"blocks\", \"block_size\": 48, \"superblock_blocks\": "),
              std::string::npos)
        << json;
    EXPECT_NE(json.find("\"live_blocks\": 2, \"live_bytes\": 96, "), std::string::npos) << json;
    EXPECT_TRUE(json.ends_with("}\n  ]\n}\n")) << json;
    EXPECT_EQ(told(StatisticsFormat::json, Classes::no).find("classes"), std::string::npos);
    for (void *const block : blocks) instance->free("test", block);
}

}  // namespace gr::statistics_test
