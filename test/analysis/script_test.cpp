// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a script of allocations whose numbers are known gives exactly those; what was not recorded is said to be so.
// Invariant: the numbers stand here as numbers.
// Must not know: how the analysis gathers.
#include <cmath>
#include <limits>
#include <variant>

#include "analysis/history.hpp"
#include "reporting/document/document_json.hpp"
#include "reporting/document/words.hpp"
#include "reporting/steps/class_sizes.hpp"
#include "reporting/steps/scope.hpp"

namespace gr::tool::script_test {

Event event_of(std::uint64_t time, unsigned thread, Op op, std::uint64_t address, std::uint64_t size = 0,
               unsigned stack = 0) {
    Event event;
    event.time = Time{time};
    event.thread = ThreadNumber{thread};
    event.op = op;
    event.address = address;
    event.size = size;
    event.stack = StackNumber{stack};
    return event;
}

Event timed_event_of(std::uint64_t time, std::uint64_t address, std::uint64_t nanoseconds) {
    Event event = event_of(time, 0, Op::malloc, address, 16);
    event.nanoseconds = static_cast<decltype(event.nanoseconds)>(nanoseconds);
    return event;
}

class ScriptTest : public testing::Test {
  protected:
    Document document_of(const std::vector<Event> &events, trace::Stacks stacks,
                         const std::vector<trace::Sample> &samples = {}) {
        History(events).write(folder_.file("trace"), stacks, samples);
        return analyse(trace::Trace(folder_.file("trace")), by_address());
    }
    // With what a recorder says of itself.
    struct Recorder {
        std::uint64_t stack_bytes = 0;  // 0: every stack is taken
        double clock_nanoseconds = 0;
        double stack_nanoseconds = 0;
    };
    Document document_of(const std::vector<Event> &events, const Recorder &recorder,
                         const std::vector<trace::Sample> &samples = {}) {
        {
            trace::Writer writer(folder_.file("trace"));
            trace::Start start;
            start.stacks = recorder.stack_bytes == 0 ? trace::Stacks::all : trace::Stacks::sampled;
            start.stack_bytes = recorder.stack_bytes;
            start.clock_nanoseconds = recorder.clock_nanoseconds;
            writer.start(start);
            writer.stacks(History::nodes());
            writer.events(ThreadNumber{0}, events, 0);
            writer.samples(samples);
            trace::End end;
            end.time = events.back().time;
            end.stack_nanoseconds = recorder.stack_nanoseconds;
            writer.end(end);
        }
        return analyse(trace::Trace(folder_.file("trace")), by_address());
    }
    Folder folder_;
};

TEST_F(ScriptTest, KnownNumbers) {
    const Document document =
        document_of({event_of(0, 0, Op::malloc, 0x10000, 24, 3), event_of(10, 0, Op::malloc, 0x10020, 100, 4),
                     event_of(20, 0, Op::free, 0x10020),  // temporary
                     event_of(30, 0, Op::malloc, 0x10020, 16, 3),
                     event_of(40, 1, Op::malloc, 0x10040, 5000, 3),  // beside it another thread's
                     event_of(90, 1, Op::free, 0x10000),             // another thread's
                     event_of(99, 1, Op::malloc, 0, 1)},             // got none
                    trace::Stacks::all);
    const auto answer = [&](const char *id) { return section_of(document, id).answer; };
    EXPECT_EQ(
        answer("footprint"),
        "At most 4.92 KiB were in use, 4 µs after the start. At most 3 blocks were in use at one time. At the end, "
        "4.9 KiB in 2 blocks were in use.");
    EXPECT_EQ(answer("statistics"),
              "4 allocations and 2 frees in 9.9 µs: 404,040 allocations per second. No call was timed.");
    EXPECT_EQ(
        answer("sizes"),
        "The program requested 4 blocks: 5.02 KiB in total, 1.25 KiB on average. The smallest has 16 bytes, the "
        "largest 4.88 KiB. The most common sizes are 0 to 16 bytes: 25 % of the blocks. Rounding to Granary's size "
        "classes would add 2.72 % of the requested bytes, rounding to powers of two 62.8 %.");
    EXPECT_EQ(
        answer("threads"),
        "2 threads called the allocator. thread 0 allocated the most: 75 % of all blocks. 1 free was of a block that "
        "another thread had allocated: 50 % of all frees.");
    EXPECT_EQ(answer("temporaries"),
              "1 block: 25 % of all blocks, 100 bytes in total. Such blocks could live on the stack or be reused. "
              "0x400040 requested it.");
    EXPECT_EQ(answer("lines"), "No: no cache line of 64 bytes ever held blocks that different threads had allocated.");
    EXPECT_EQ(answer("leaks"), "2 blocks of 4.9 KiB. All of these bytes come from 0x400030.");
    EXPECT_EQ(answer("origins"), "At the peak, 4 µs after the start, all of the memory in use came from 0x400030.");
    EXPECT_EQ(
        answer("held-end"),
        "1 of 2 pages that held a block was less than a quarter full: because of 968 bytes in use, 3.05 KiB could "
        "not be returned to the OS. The largest part of that is held by blocks from 0x400030.");
}

TEST_F(ScriptTest, NothingAtAll) {
    const std::string path = folder_.file("empty");
    {
        trace::Writer writer(path);
        writer.start({});
        writer.end({});
    }
    const Document document = analyse(trace::Trace(path));
    EXPECT_EQ(document.sections.size(), 14U);
    for (const Section &section : document.sections) {
        EXPECT_NE(section.answer, "") << section.id;
        EXPECT_TRUE(section.charts.empty()) << section.id;
    }
    EXPECT_NE(to_json(document), "");
}

TEST_F(ScriptTest, WhatWasNotRecordedIsSaid) {
    const Document document = document_of({event_of(0, 0, Op::malloc, 0x1000, 10)}, trace::Stacks::none);
    EXPECT_EQ(section_of(document, "origins").answer, "Call stacks were not recorded.");
    EXPECT_EQ(section_of(document, "lifetimes").answer, "No block was freed.");
    EXPECT_NE(section_of(document, "leaks").answer.find("call stacks were not recorded"), std::string::npos);
    EXPECT_NE(section_of(document, "map").answer.find("was not recorded"), std::string::npos);
}

// Of a page of each kind, but for four of the heap and two that were mapped.
TEST_F(ScriptTest, ResidentMemoryByKind) {
    using trace::MemoryKind;
    constexpr std::uint64_t kPage = 4096;
    const auto part = [](MemoryKind kind, std::uint32_t name, unsigned stack, std::uint64_t pages) {
        return trace::MemoryPart{kind, name, StackNumber{stack}, 1, 2 * pages * kPage, pages * kPage};
    };
    const std::string path = folder_.file("trace");
    {
        trace::Writer writer(path);
        trace::Start start;
        start.stacks = trace::Stacks::all;
        writer.start(start);
        writer.stacks(History::nodes());
        writer.memory_names(std::vector<std::string>{"/bin/x", "/memfd:ring"});
        writer.events(
            ThreadNumber{0},
            std::vector{event_of(10, 0, Op::malloc, 0x10000, 3 * kPage, 3), event_of(30, 0, Op::free, 0x10000)}, 0);
        const trace::MemoryLook small{Time{5}, 0, {part(MemoryKind::heap, 0, 0, 1)}};
        const trace::MemoryLook large{
            Time{20},
            kPage,
            {part(MemoryKind::heap, 0, 0, 4), part(MemoryKind::own, 0, 3, 2), part(MemoryKind::code, 1, 0, 1),
             part(MemoryKind::not_known, 0, 0, 1), part(MemoryKind::recorder, 2, 0, 9)}};
        writer.memory(small);
        writer.memory(large);
        writer.end({.time = Time{40}});
    }
    const Section section = section_of(analyse(trace::Trace(path), by_address()), "resident");
    EXPECT_EQ(
        section.answer,
        "Of 32 KiB resident 2 µs after the start, 12 KiB are in use from malloc, 8 KiB mapped by the program or its "
        "libraries without malloc, 4 KiB held by the allocator and not in use, 4 KiB code of the program "
        "and its libraries and 4 KiB not known. The kernel has 4 KiB of page tables besides. No number here "
        "contains the 36 KiB of the recording "
        "itself. Of what was mapped without malloc, 0x400030 mapped the most: 8 KiB.");
    ASSERT_EQ(section.charts.size(), 3U);
    const auto &series = std::get<SeriesChart>(section.charts[0]).series;
    ASSERT_EQ(series.size(), 5U);
    EXPECT_TRUE(std::isnan(series[0].values.front()));
    EXPECT_EQ(series[0].values.back(), 3.0 * kPage);  // as it was at the look
    const auto &table = std::get<TableChart>(section.charts[1]);
    ASSERT_EQ(table.rows.size(), 4U);
    EXPECT_EQ(std::get<double>(table.rows[0][1]), 4.0 * kPage);
    EXPECT_EQ(std::get<std::string>(table.parts[0][0][0]), "blocks in use, from malloc");
    EXPECT_EQ(std::get<std::string>(table.parts[2][0][0]), "/bin/x");
    EXPECT_TRUE(table.parts[3].empty());
}

TEST_F(ScriptTest, ResidentMemoryOfAProgramThatRanBefore) {
    using trace::MemoryKind;
    constexpr std::uint64_t kPage = 4096;
    const std::string path = folder_.file("trace");
    {
        trace::Writer writer(path);
        trace::Start start;
        start.ran_before = true;
        writer.start(start);
        writer.memory({Time{20},
                       0,
                       {{MemoryKind::heap, 0, {}, 1, 4 * kPage, 4 * kPage},
                        {MemoryKind::earlier, 0, {}, 2, 8 * kPage, 2 * kPage}}});
        writer.end({.time = Time{40}});
    }
    const Section section = section_of(analyse(trace::Trace(path), by_address()), "resident");
    EXPECT_EQ(section.answer,
              "Of 24 KiB resident 2 µs after the start, 16 KiB are held by the allocator (blocks from before the "
              "recording, and free memory), 8 KiB mapped before the recording began and 0 bytes in use from malloc.");
    const auto &table = std::get<TableChart>(section.charts[1]);
    ASSERT_EQ(table.rows.size(), 2U);
    EXPECT_EQ(std::get<std::string>(table.parts[0][1][0]), "blocks from before the recording, and free memory");
    EXPECT_EQ(std::get<std::string>(table.rows[1][0]), "mapped before the recording began");
}

TEST(WordsTest, ThreeDigitsAndAUnit) {
    EXPECT_EQ(count_words(999999), "999,999");
    EXPECT_EQ(count_words(12345678), "12.3 million");
    EXPECT_EQ(bytes_words(1), "1 byte");
    EXPECT_EQ(bytes_words(1536), "1.5 KiB");
    EXPECT_EQ(time_words(125), "2 min 5 s");
    EXPECT_EQ(time_words(1e-7), "100 ns");
    EXPECT_EQ(share_words(1, 3), "33.3 %");
    EXPECT_EQ(share_words(1, 1e6), "less than 0.1 %");
    EXPECT_EQ(percent_words(0), "0 %");
    EXPECT_EQ(percent_words(0.0004), "< 0.1 %");
    EXPECT_EQ(percent_words(0.9996), "> 99.9 %");
    EXPECT_EQ(percent_words(0.123456), "12.3 %");
    EXPECT_EQ(percent_words(1), "100 %");
    EXPECT_EQ(percent_words(2.5), "250 %");
    EXPECT_EQ(growth_percent(0), "0 %");
    EXPECT_EQ(growth_percent(0.9996), "100 %");
    EXPECT_EQ(growth_percent(-0.9999), "-100 %");
    EXPECT_EQ(growth_percent(2.371), "237 %");
    EXPECT_EQ(growth_percent(0.0004), "< 0.1 %");
    EXPECT_EQ(growth_percent(-0.0004), "> -0.1 %");
}

TEST(WordsTest, LongNamesAreCutInside) {
    const std::string name = "std::map<std::string, std::vector<int> >::find(std::string const&) < main";
    EXPECT_EQ(short_name(name, name.size()), name);
    EXPECT_EQ(short_name(name, name.size() - 1), "std::map<…>::find(std::string const&) < main");
    EXPECT_EQ(short_name(name, 35), "std::map<…>::find(…) < main");
    EXPECT_EQ(short_name("operator-> < operator()(int) < operator<(longer)", 43),
              "operator-> < operator()(int) < operator<(…)");
    EXPECT_EQ(short_name("find(char const*, int) (search.h:12) < operator()(Text const&) const (main.cpp:3)", 60),
              "find(…) (search.h:12) < operator()(…) const (main.cpp:3)");
    EXPECT_EQ(short_name("abcdefghijklmnopqrstuvwxyz", 11), "abcdef…wxyz");
    EXPECT_EQ(short_name("std::f<int const&>(long) < main", 17), "std::f<…< main");
    EXPECT_EQ(short_name("ääääääääää", 5).find("…") == std::string::npos, false);
    for (std::size_t most = 1; most < name.size(); ++most) EXPECT_LE(width_of(short_name(name, most)), most) << most;
}

TEST(JsonTest, WhateverTextAndNumbers) {
    Document document;
    document.title = "a\"\x01\xff";
    SeriesChart chart;
    chart.at = {0.5, 1e300, std::numeric_limits<double>::quiet_NaN()};
    document.sections = {{"id", "?", "!", {chart}}};
    const std::string json = to_json(document);
    EXPECT_NE(json.find(R"("title":"a\"\u0001)"), std::string::npos);
    EXPECT_NE(json.find("[0.5,1e+300,null]"), std::string::npos);
}

TEST(ClassSizesTest, NeverLessThanAskedFor) {
    for (std::uint64_t size = 0; size < 100000; ++size) {
        ASSERT_GE(granary_block(size), size);
        ASSERT_GE(power_of_two_block(size), size);
        ASSERT_LE(granary_block(size), size < 128 ? size + 16 : size < 32768 ? size + size / 8 + 16 : size + 4096);
    }
    EXPECT_EQ(granary_block(1025), 1152U);
    EXPECT_EQ(granary_block(32768), 32768U);
}

TEST_F(ScriptTest, WhereOneThreadDidAllAndAllWasFreed) {
    const Document document = document_of({event_of(0, 0, Op::malloc, 0x10000, 24), event_of(10, 0, Op::free, 0x10000),
                                           event_of(20, 1, Op::malloc, 0, 1)},  // got none
                                          trace::Stacks::none);
    EXPECT_EQ(section_of(document, "threads").answer,
              "2 threads called the allocator. thread 0 allocated every block. No thread freed a block that another "
              "thread had allocated.");
    EXPECT_EQ(
        section_of(document, "lifetimes").answer,
        "Half of the freed blocks lived less than 1.1 µs, 90 % less than 1.1 µs; the longest lived 1 µs of the 2.1 µs "
        "that the trace covers. Half of the freed blocks were freed before anything else was allocated. All blocks "
        "were freed.");
}

TEST_F(ScriptTest, WhereNoStackWasTakenOfThePeak) {
    const Document document =
        document_of({event_of(0, 0, Op::malloc, 0x10000, 24, 3), event_of(10, 0, Op::free, 0x10000),
                     event_of(20, 0, Op::malloc, 0x10000, 4096)},
                    Recorder{.stack_bytes = 1});
    EXPECT_EQ(
        section_of(document, "origins").answer,
        "No block in use at the peak, 2 µs after the start, has a call stack. These are estimates: one stack was taken "
        "for every 1 byte allocated, on average.");
    EXPECT_EQ(
        section_of(document, "fragmentation").answer,
        "At the peak, 4 KiB were in use, in 1 page, filled to 100 %. The pages that held a block were at most 4 KiB of "
        "memory: about as much as the peak of the bytes in use. At the end, 4 KiB in use occupied 4 KiB of pages.");
}

TEST_F(ScriptTest, WhereNothingIsFreedAtTheEndBothMomentsAreOne) {
    trace::Sample sample;
    sample.time = Time{20};
    sample.resident_bytes = 1 << 20;
    const std::vector<Event> kept = {event_of(0, 0, Op::malloc, 0x10000, 24), event_of(10, 0, Op::malloc, 0x20000, 40)};
    const Document same = document_of(kept, trace::Stacks::none, {sample});
    EXPECT_EQ(section_of(same, "held-end").question,
              "Which blocks prevented the return of pages to the OS when resident memory was largest, and at the end?");
    EXPECT_EQ(same.sections.size(), 14U);
    std::vector<Event> freed = kept;
    freed.push_back(event_of(30, 0, Op::free, 0x10000));
    const Document other = document_of(freed, trace::Stacks::none, {sample});
    EXPECT_EQ(section_of(other, "held-end").question,
              "Which blocks prevented the return of pages to the OS at the end?");
    EXPECT_NE(section_of(other, "held-peak").answer, section_of(other, "held-end").answer);
}

TEST_F(ScriptTest, PagesThatWereNeverTouchedAreNotFilled) {
    trace::Sample sample;
    sample.resident_bytes = 1 << 20;
    const Document document =
        document_of({event_of(0, 0, Op::malloc, 0x100000, 8 << 20)}, trace::Stacks::none, {sample});
    EXPECT_EQ(
        section_of(document, "fragmentation").answer,
        "At the peak, 8 MiB were in use, in 2,048 pages, of which the blocks covered 100 %. The pages that held a "
        "block were at most 8 MiB of memory: about as much as the peak of the bytes in use. At the end, 8 MiB in use "
        "occupied 8 MiB of pages. At most 1 MiB were resident, including memory that is not from malloc. So at the "
        "peak of the bytes in use, at least 7 MiB of these pages were not resident.");
}

// One call that was interrupted is no thousand calls.
TEST_F(ScriptTest, LongCallsAreToldApart) {
    const Document document =
        document_of({timed_event_of(0, 0x10000, 40), timed_event_of(10, 0x10020, 60),
                     timed_event_of(20, 0x10040, 1'000'000), timed_event_of(30, 0x10060, 19'000'000)},
                    trace::Stacks::none);
    const Section &section = section_of(document, "statistics");
    EXPECT_EQ(
        section.answer,
        "4 allocations and 0 frees in 3 µs: 1.33 million allocations per second. Only 3 calls were timed: too few to "
        "tell how long the calls took in total. Of 4 timed calls, 1 took more than 1 ms, 19 ms in total. Such calls "
        "are left out, because other "
        "threads most likely ran meanwhile.");
    const auto &whole = chart_of<TableChart>(section, "Totals");
    EXPECT_EQ(number_in(whole, "timed calls of more than 1 ms, left out", 1), 1);
    EXPECT_NEAR(number_in(whole, "timed calls of more than 1 ms, left out", 2), 0.019, 1e-15);
    EXPECT_TRUE(std::isnan(number_in(whole, "time in calls, share of the CPU time without the recording's part", 2)));
    EXPECT_NEAR(number_in(whole, "standard error of the time in calls", 2), 4 * 333'316.67e-9,
                1e-9);  // 577,321 / sqrt(3), of 4
    EXPECT_EQ(number_in(chart_of<TableChart>(section, "Calls"), "malloc", 2), 4);
}

// 1,000 calls of 60 ns, of which reading the clock took 10, in 150 µs of CPU time. The recording took 10 for reading the clock
// and 40 for two stacks.
TEST_F(ScriptTest, TheRecordingIsNoPartOfTheProgramsTime) {
    std::vector<Event> events;
    for (unsigned i = 0; i < 1000; ++i) {
        events.push_back(timed_event_of(i, 0x10000 + i * 16, 60));
        if (i < 2) events.back().stack = StackNumber{3};
    }
    const auto sample_of = [](std::uint64_t microseconds) {
        return trace::Sample{.time = Time{1000}, .user_microseconds = microseconds};
    };
    const Document document =
        document_of(events, {.clock_nanoseconds = 10, .stack_nanoseconds = 20000}, {sample_of(150)});
    EXPECT_NE(section_of(document, "statistics")
                  .answer.find("Calls took about 50 µs in total (± 0 s), 50 % of the program's own CPU time of about "
                               "100 µs. That is without the recording itself, which took about 50 µs of the process's "
                               "150 µs of CPU time."),
              std::string::npos)
        << section_of(document, "statistics").answer;
    // Where nothing but calls and their recording is left, calls are nearly all.
    const Document all = document_of(events, {.clock_nanoseconds = 10, .stack_nanoseconds = 20000}, {sample_of(90)});
    EXPECT_NE(section_of(all, "statistics").answer.find(", nearly all of the program's own CPU time."),
              std::string::npos)
        << section_of(all, "statistics").answer;
    // Without samples no share is told.
    EXPECT_EQ(section_of(document_of(events, Recorder{}), "statistics").answer.find("CPU time"), std::string::npos);
}

// One stack for 1,000 bytes: a block of 100 bytes that has one stands for 10.51 blocks.
TEST_F(ScriptTest, WhatIsSampledIsCountedInWholeBlocksAndSaidToBeEstimated) {
    const Document document =
        document_of({event_of(0, 0, Op::malloc, 0x10000, 100, 3), event_of(1, 0, Op::free, 0x10000),
                     event_of(2, 0, Op::malloc, 0x10000, 100, 3), event_of(3, 0, Op::malloc, 0x20000, 100)},
                    Recorder{.stack_bytes = 1000});
    const auto &temporary = chart_of<TableChart>(section_of(document, "temporaries"),
                                                 "Temporary blocks, by function (estimated from sampled stacks)");
    EXPECT_EQ(number_in(temporary, "0x400030", 1), 11);
    EXPECT_EQ(number_in(temporary, "0x400030", 2), 21);
    EXPECT_EQ(number_in(temporary, "0x400030", 3), 1051);
    const auto &end = chart_of<TableChart>(section_of(document, "leaks"),
                                           "In use at the end, by function (estimated from sampled stacks)");
    EXPECT_EQ(number_in(end, "0x400030", 2), 11);
    const auto &sites =
        chart_of<TableChart>(section_of(document, "origins"), "Memory by function (estimated from sampled stacks)");
    EXPECT_EQ(number_in(sites, "0x400030", 4), 21);
}

TEST_F(ScriptTest, AnEstimateIsNotToldAsAnExactNumberBesideOne) {
    std::vector<Event> events = {event_of(0, 0, Op::malloc, 0x10000, 100, 3), event_of(1, 0, Op::free, 0x10000),
                                 event_of(2, 0, Op::malloc, 0x10000, 100, 3), event_of(3, 0, Op::malloc, 0x20000, 100)};
    const auto answers = [&](const char *id) {
        return section_of(document_of(events, Recorder{.stack_bytes = 1000}), id).answer;
    };
    EXPECT_EQ(answers("temporaries"),
              "1 block: 33.3 % of all blocks, 100 bytes in total. Such blocks could live on the stack or be reused. By "
              "the sampled stacks, 0x400030 requested it.");
    EXPECT_EQ(answers("leaks"), "2 blocks of 200 bytes. Every sampled stack of these blocks leads to 0x400030.");
    const std::string estimates =
        " These are estimates: one stack was taken for every 1000 bytes allocated, on average.";
    EXPECT_EQ(
        answers("origins"),
        "At the peak, 300 ns after the start, every sampled stack of the memory in use leads to 0x400030." + estimates);
    EXPECT_EQ(
        answers("held-end"),
        "2 of 2 pages that held a block were less than a quarter full: because of 200 bytes in use, 7.8 KiB could not "
        "be returned to the OS. By the sampled stacks, the largest part of that is held by blocks from 0x400030.");
    events.push_back(event_of(4, 0, Op::malloc, 0x30000, 200, 4));
    EXPECT_EQ(answers("leaks"), "3 blocks of 400 bytes. The largest part, about 51.2 %, comes from 0x400040.");
    EXPECT_EQ(answers("origins"),
              "At the peak, 400 ns after the start, about 51.2 % of the memory in use came from 0x400040." + estimates);
    // Every chart by function says that it is an estimate.
    const Document document = document_of(events, Recorder{.stack_bytes = 1000});
    for (const Chart &chart : section_of(document, "origins").charts)
        EXPECT_TRUE(std::visit([](const auto &one) { return one.title.ends_with(kEstimated); }, chart));
}

TEST(WordsTest, AboutStandsBeforeANumberOnly) {
    EXPECT_EQ(about("12 %", true), "about 12 %");
    EXPECT_EQ(about("12 %", false), "12 %");
    EXPECT_EQ(about("less than 0.1 %", true), "less than 0.1 %");
    EXPECT_EQ(about("none", true), "none");
}

TEST_F(ScriptTest, LongCallsAlone) {
    const Document document = document_of({timed_event_of(0, 0x10000, 19'000'000)}, trace::Stacks::none);
    EXPECT_EQ(
        section_of(document, "statistics").answer,
        "1 allocation and 0 frees in 0 s. Of 1 timed call, 1 took more than 1 ms, 19 ms in total. Such calls are left "
        "out, because other threads most likely ran meanwhile.");
}

}  // namespace gr::tool::script_test
