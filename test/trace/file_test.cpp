// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a trace is what was written, in order, and up to the damage where there is some.
// Invariant: the files are made here, in a folder that goes with them.
// Must not know: the bytes of a file.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <vector>

#include "base/failure.hpp"
#include "reading/trace/playback.hpp"
#include "reading/trace/reader.hpp"
#include "reading/trace/stream.hpp"
#include "reading/trace/writer.hpp"

namespace gr::trace::file_test {

namespace fs = std::filesystem;

class TraceTest : public testing::Test {
  protected:
    TraceTest() { fs::create_directory(folder_); }
    ~TraceTest() override { fs::remove_all(folder_); }

    static std::vector<Event> random_events(ThreadNumber thread, std::size_t count, std::mt19937_64 &random,
                                            std::uint64_t begin = 0) {
        constexpr Op kOps[] = {Op::malloc,       Op::calloc,        Op::free,         Op::realloc,
                               Op::realloc_free, Op::aligned_alloc, Op::operator_new, Op::operator_delete,
                               Op::map,          Op::unmap,         Op::advise,       Op::brk};
        std::vector<Event> events;
        std::uint64_t time = begin + random() % 1000;
        for (std::size_t i = 0; i < count; ++i) {
            Event event;
            event.op = kOps[random() % std::size(kOps)];
            event.time = Time{time += random() % (i % 7 == 0 ? 100000 : 3)};
            event.address = random() % 50 == 0 ? random() >> 8 : 0x7f0000000000 + random() % 4096 * 16;
            if (!frees(event.op)) event.size = random() >> (8 + random() % 56);
            if (obtains(event.op) && random() % 9 == 0)
                event.log2_alignment = static_cast<std::uint8_t>(1 + random() % 20);
            if (obtains(event.op) && random() % 11 == 0)
                event.stack = StackNumber{1 + static_cast<std::uint32_t>(random() % 3)};
            if (random() % 13 == 0) event.nanoseconds = 1 + static_cast<std::uint32_t>(random() % 100000);
            event.thread = thread;
            events.push_back(event);
        }
        return events;
    }
    static std::vector<Event> events_of(const EventBlock &block) {
        BlockReader reader;
        reader.begin(block);
        std::vector<Event> events;
        for (Event event; reader.next(&event);) events.push_back(event);
        return events;
    }
    static std::string failure_of(const std::string &path) {
        try {
            Trace trace(path);
        } catch (const tool::Failure &failure) {
            return failure.what();
        }
        return "none";
    }
    static Event event_of(Op op, std::uint64_t time, std::uint64_t address, unsigned thread, std::uint64_t size = 0) {
        Event event;
        event.op = op;
        event.time = Time{time};
        event.address = address;
        event.thread = ThreadNumber{thread};
        event.size = size;
        return event;
    }

    // Of random events.
    inline static const std::vector<StackNode> kNodes = {
        {StackNumber::none, 0x1000}, {StackNumber{1}, 0x2000}, {StackNumber{1}, 0xfff}};

    fs::path folder_ = fs::temp_directory_path() / ("trace_test." + std::to_string(::getpid()));
    std::string path_ = (folder_ / "one").string();
};

TEST_F(TraceTest, WhatIsWrittenIsRead) {
    std::mt19937_64 random(1);
    std::vector<std::vector<Event>> written;
    {
        Writer writer(path_);
        Start start;
        start.program = "/bin/program \xff";  // not UTF-8
        start.arguments = {"program", "-x"};
        start.process = 17;
        start.stacks = Stacks::all;
        start.clock_nanoseconds = 9.5;
        writer.start(start);
        writer.stacks(kNodes);
        for (unsigned i = 0; i < 12; ++i) {
            const ThreadNumber thread{i % 3};
            written.push_back(random_events(thread,
                                            i == 5   ? 0
                                            : i == 7 ? kMostEvents
                                                     : random() % 5000,
                                            random, std::uint64_t{i} << 40));
            writer.events(thread, written.back(), i);
        }
        writer.threads(std::vector<Thread>{{ThreadNumber{1}, 99, "worker", Time{5}}});
        writer.modules({Time{3}, {{0x1000, 0x3000, 0x100, "/bin/program", "abcd"}}});
        writer.marks(std::vector<Mark>{{Time{9}, ThreadNumber{2}, "phase 2"}});
        const Sample sample{.time = Time{7}, .resident_bytes = 4096, .user_microseconds = 5, .faults = 3, .threads = 2};
        Sample later = sample;
        later.time = Time{70};
        later.resident_bytes = 1;
        writer.samples(std::vector<Sample>{sample, later});
        writer.resident({Time{8}, 4096, {{0x1000, 0x2000}, {0x8000, 0x1000}}});
        writer.relative({Time{10}, 18, false, "two"});
        writer.end({Time{1000000}, End::Reason::signal, 9, writer.events_written(), 3});
        EXPECT_EQ(writer.bytes(), fs::file_size(path_));
    }
    const Trace trace(path_);
    EXPECT_EQ(trace.damage(), "");
    EXPECT_EQ(trace.start().program, "/bin/program \xef\xbf\xbd");
    EXPECT_EQ(trace.start().arguments.size(), 2U);
    EXPECT_EQ(trace.start().stacks, Stacks::all);
    EXPECT_EQ(trace.start().clock_nanoseconds, 9.5);
    ASSERT_EQ(trace.blocks().size(), written.size());
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < written.size(); ++i) {
        EXPECT_EQ(events_of(trace.blocks()[i]), written[i]);
        lost += i;
    }
    EXPECT_EQ(trace.lost(), lost);
    ASSERT_EQ(trace.threads().size(), 3U);
    EXPECT_EQ(trace.threads()[1].name, "worker");
    EXPECT_EQ(trace.modules().at(0).modules.at(0).offset, 0x100U);
    EXPECT_EQ(trace.marks().at(0).text, "phase 2");
    ASSERT_EQ(trace.samples().size(), 2U);
    EXPECT_EQ(trace.samples()[1].resident_bytes, 1U);
    EXPECT_EQ(trace.samples()[1].threads, 2U);
    EXPECT_EQ(trace.resident(trace.residents().at(0)).runs, (std::vector<PageRun>{{0x1000, 0x2000}, {0x8000, 0x1000}}));
    EXPECT_EQ(trace.relatives().at(0).file, "two");
    ASSERT_EQ(trace.stacks().size(), 4U);
    EXPECT_EQ(trace.stacks()[3].parent, StackNumber{1});
    EXPECT_EQ(trace.stacks()[3].address, 0xfffU);
    EXPECT_EQ(trace.end()->status, 9);
}

TEST_F(TraceTest, RequestsAreReadByTime) {
    const Request map{Time{20}, ThreadNumber{1}, RequestKind::map, 3, 0x7f0000001000, 0x3000, StackNumber{2}};
    const Request unmap{Time{30}, ThreadNumber{1}, RequestKind::unmap, 0, 0x7f0000001000, 0x1000, StackNumber::none};
    const Request shrink{Time{5}, ThreadNumber{0}, RequestKind::brk, 0, 0x20000, 0 - std::uint64_t{4096}, {}};
    const Request advise{Time{21}, ThreadNumber{0}, RequestKind::advise, 4, 0x7f0000002000, 1, StackNumber{1}};
    {
        Writer writer(path_);
        writer.start({});
        writer.stacks(kNodes);
        writer.requests(std::vector<Request>{map, unmap, shrink});
        writer.requests(std::vector<Request>{});
        writer.requests(std::vector<Request>{advise});
        writer.end({});
    }
    const Trace trace(path_);
    EXPECT_EQ(trace.damage(), "");
    EXPECT_EQ(trace.requests(), (std::vector<Request>{shrink, map, advise, unmap}));
    EXPECT_EQ(trace.last(), Time{30});
}

TEST_F(TraceTest, RequestsThatCannotBeAreDamage) {
    const Request possible{Time{20}, ThreadNumber{1}, RequestKind::map, 0, 0x1000, 0x3000, StackNumber{2}};
    std::vector<Request> wrong(6, possible);
    wrong[0].time.units = kMostTime + 1;
    wrong[1].thread = ThreadNumber{1U << 31};
    wrong[2].kind = RequestKind{44};
    wrong[3].size = kMostBlock + 1;
    wrong[4].address = UINT64_MAX - 5;
    wrong[5].stack = StackNumber{4};
    for (const Request &request : wrong) {
        {
            Writer writer(path_);
            writer.start({});
            writer.stacks(kNodes);
            writer.requests(std::vector<Request>{possible});
            writer.requests(std::vector<Request>{request});
        }
        const Trace trace(path_);
        EXPECT_NE(trace.damage().find("is damaged"), std::string::npos) << trace.damage();
        EXPECT_EQ(trace.requests(), std::vector<Request>{possible});
    }
}

TEST_F(TraceTest, MemoryIsReadByTimeAndSamplesLeaveTheRecorderOut) {
    const MemoryLook late{
        Time{50},
        4096,
        {{MemoryKind::own, 0, StackNumber{2}, 1, 0x4000, 0x3000}, {MemoryKind::recorder, 2, {}, 2, 0x9000, 0x1000}}};
    const MemoryLook early{Time{20}, 0, {{MemoryKind::code, 1, {}, 3, 0x2000, 0x2000}}};
    {
        Writer writer(path_);
        writer.start({});
        writer.stacks(kNodes);
        writer.memory_names(std::vector<std::string>{"/bin/program"});
        writer.memory_names(std::vector<std::string>{"/memfd:ring"});
        writer.memory(late);
        writer.memory(early);
        std::vector<Sample> samples;
        for (const std::uint64_t time : {10U, 50U, 60U})
            samples.push_back({.time = Time{time}, .resident_bytes = 0x1800});
        samples.push_back({.time = Time{70}, .resident_bytes = 0x10});
        writer.samples(samples);
        writer.end({});
    }
    const Trace trace(path_);
    EXPECT_EQ(trace.damage(), "");
    ASSERT_EQ(trace.memory().size(), 2U);
    EXPECT_EQ(trace.memory_at(trace.memory()[0]).parts, early.parts);
    EXPECT_EQ(trace.memory_at(trace.memory()[1]).parts, late.parts);
    EXPECT_EQ(trace.memory()[1].summary.resident, 0x3000U);
    EXPECT_EQ(trace.memory()[1].summary.page_tables, 4096U);
    EXPECT_EQ(trace.memory_names(), (std::vector<std::string>{"", "/bin/program", "/memfd:ring"}));
    // The second sample comes just behind a look that saw more.
    std::vector<std::uint64_t> resident;
    for (const Sample &sample : trace.samples()) resident.push_back(sample.resident_bytes);
    EXPECT_EQ(resident, (std::vector<std::uint64_t>{0x1800, 0x3000, 0x800, 0}));
}

TEST_F(TraceTest, NoPartOfTheCpuTimeFalls) {
    constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;
    const std::vector<std::pair<std::uint64_t, std::uint64_t>> written = {{10, 5},        {9, 7},     {20, 2}, {3, 3},
                                                                          {kHuge, kHuge}, {0, kHuge}, {1, 1}};
    {
        Writer writer(path_);
        writer.start({});
        std::vector<Sample> samples;
        for (const auto &[user, system] : written)
            samples.push_back({.time = Time{samples.size()}, .user_microseconds = user, .system_microseconds = system});
        writer.samples(samples);
    }
    const Trace trace(path_);
    ASSERT_EQ(trace.samples().size(), written.size());
    Sample before;
    for (const Sample &sample : trace.samples()) {
        EXPECT_GE(sample.user_microseconds, before.user_microseconds);
        EXPECT_GE(sample.system_microseconds, before.system_microseconds);
        before = sample;
    }
    // A sum that does not fall is what was written.
    EXPECT_EQ(trace.samples()[0].user_microseconds, 10U);
    EXPECT_EQ(trace.samples()[1].user_microseconds + trace.samples()[1].system_microseconds, 16U);
    EXPECT_EQ(trace.samples()[2].user_microseconds + trace.samples()[2].system_microseconds, 22U);
    EXPECT_EQ(trace.samples()[3].user_microseconds + trace.samples()[3].system_microseconds, 22U);
}

TEST_F(TraceTest, SummariesTellWhatTheEventsDo) {
    Writer writer(path_);
    writer.start({});
    writer.events(ThreadNumber{0},
                  std::vector<Event>{event_of(Op::malloc, 5, 0x1000, 0, 16), event_of(Op::malloc, 6, 0x2000, 0, 100),
                                     event_of(Op::malloc, 7, 0, 0, 1U << 30), event_of(Op::free, 8, 0x1000, 0),
                                     event_of(Op::map, 9, 0x100000, 0, 1U << 20)},
                  2);
    const Trace trace(path_);
    const EventsSummary &summary = trace.blocks().at(0).summary;
    EXPECT_EQ(summary.obtained, 2U);
    EXPECT_EQ(summary.failed, 1U);
    EXPECT_EQ(summary.freed, 1U);
    EXPECT_EQ(summary.of_pages, 1U);
    EXPECT_EQ(summary.bytes, 116U);
    EXPECT_EQ(summary.lowest, 0x1000U);
    EXPECT_EQ(summary.highest, 0x2000U + 100);
    EXPECT_EQ(summary.sizes[size_bucket(16)], 1U);
    EXPECT_EQ(summary.sizes[size_bucket(100)], 1U);
    EXPECT_EQ(summary.first_time, 5U);
    EXPECT_EQ(summary.last_time, 9U);
    EXPECT_NE(trace.damage(), "");  // it has no end
}

TEST_F(TraceTest, BucketsEndWhereTheNextBegins) {
    for (unsigned bucket = 0; bucket + 1 < kSizeBuckets; ++bucket) {
        EXPECT_EQ(size_bucket(bucket_end(bucket)), bucket);
        EXPECT_EQ(size_bucket(bucket_end(bucket) + 1), bucket + 1);
    }
    EXPECT_EQ(size_bucket(~std::uint64_t{0}), kSizeBuckets - 1);
}

// Whatever a file is cut off to, or however a byte of it is spoilt, what is read is the beginning of what was written.
TEST_F(TraceTest, WhateverIsSpoiltIsSaid) {
    std::mt19937_64 random(2);
    const std::vector<Event> first = random_events(ThreadNumber{0}, 300, random);
    const std::vector<Event> second = random_events(ThreadNumber{1}, 300, random);
    {
        Writer writer(path_);
        writer.start({});
        writer.stacks(kNodes);
        writer.events(ThreadNumber{0}, first, 0);
        writer.events(ThreadNumber{1}, second, 0);
        writer.end({});
    }
    std::ifstream file(path_, std::ios::binary);
    const std::string whole{std::istreambuf_iterator<char>(file), {}};
    const std::string other = (folder_ / "spoilt").string();
    const auto check = [&](const std::string &bytes) {
        std::ofstream(other, std::ios::binary | std::ios::trunc) << bytes;
        try {
            const Trace trace(other);
            std::uint64_t events = 0;
            Stream stream(trace);
            for (Event event; stream.next(&event);) ++events;
            EXPECT_EQ(events + stream.left_out(), trace.events());
            EXPECT_TRUE(!trace.damage().empty() || stream.left_out() != 0) << "nobody noticed";
            EXPECT_EQ(std::ranges::count(trace.damage(), '\n'), 0);
        } catch (const tool::Failure &failure) {
            EXPECT_EQ(std::ranges::count(std::string(failure.what()), '\n'), 0);
        }
    };
    for (std::size_t length = 0; length < whole.size(); length += length < 600 ? 1 : 13) check(whole.substr(0, length));
    for (std::size_t at = 0; at < whole.size(); at += at < 600 ? 1 : 7) {
        std::string spoilt = whole;
        spoilt[at] = static_cast<char>(spoilt[at] ^ (1 << random() % 8));
        check(spoilt);
    }
}

TEST_F(TraceTest, WhatIsNoTraceIsRefusedInOneLine) {
    EXPECT_NE(failure_of(path_).find("No such file"), std::string::npos);
    std::ofstream(path_) << "";
    EXPECT_NE(failure_of(path_).find("is empty"), std::string::npos);
    std::ofstream(path_) << "#!/bin/sh\necho this is a text, and a long one\n";
    EXPECT_NE(failure_of(path_).find("is not a trace"), std::string::npos);
    {
        FileHead head;
        head.version = 77;
        std::ofstream(path_, std::ios::binary).write(reinterpret_cast<const char *>(&head), sizeof head);
    }
    EXPECT_NE(failure_of(path_).find("version 77"), std::string::npos);
    { Writer writer(path_); }
    EXPECT_NE(failure_of(path_).find("before anything was recorded"), std::string::npos);
    EXPECT_NE(failure_of(folder_.string()).find("Is a directory"), std::string::npos);
}

TEST_F(TraceTest, EventsOfAllThreadsComeInTheOrderOfTime) {
    std::mt19937_64 random(3);
    constexpr unsigned kThreads = 9;
    std::vector<std::vector<Event>> written(kThreads);
    {
        Writer writer(path_);
        writer.start({});
        writer.stacks(kNodes);
        for (unsigned i = 0; i < kThreads; ++i)
            written[i] = random_events(ThreadNumber{i}, 100 + random() % 2000, random);
        std::vector<std::size_t> next(kThreads);
        for (bool more = true; more;) {
            more = false;
            for (unsigned i = 0; i < kThreads; ++i) {
                const std::size_t count = std::min<std::size_t>(written[i].size() - next[i], 64 * (1 + random() % 9));
                if (count == 0) continue;
                writer.events(ThreadNumber{i}, std::span(written[i]).subspan(next[i], count), 0);
                next[i] += count;
                more = true;
            }
        }
        writer.end({});
    }
    const Trace trace(path_);
    Stream stream(trace);
    std::vector<std::vector<Event>> read(kThreads);
    Time last;
    for (Event event; stream.next(&event);) {
        EXPECT_LE(last, event.time);
        last = event.time;
        read[number_of(event.thread)].push_back(event);
    }
    EXPECT_EQ(read, written);
    EXPECT_EQ(stream.left_out(), 0U);
}

class Story : public Listener {
  public:
    void born(const Block &block) override { tell('+', block.address); }
    void died(const Block &block, const Event &) override { tell('-', block.address); }
    void vanished(const Block &block, Time) override { tell('!', block.address); }
    void unknown_free(const Event &event) override { tell('?', event.address); }
    void failed(const Event &event) override { tell('0', event.size); }
    std::string text;

  private:
    void tell(char what, std::uint64_t address) { text += what + std::to_string(address) + ' '; }
};

TEST_F(TraceTest, EventsOfOneTimeComeInAnOrderThatIsPossible) {
    {
        Writer writer(path_);
        writer.start({});
        writer.events(ThreadNumber{0},
                      std::vector<Event>{event_of(Op::free, 5, 16, 0), event_of(Op::free, 5, 32, 0),
                                         event_of(Op::malloc, 7, 16, 0, 1), event_of(Op::malloc, 9, 0, 0, 3)},
                      0);
        writer.events(ThreadNumber{1},
                      std::vector<Event>{event_of(Op::malloc, 5, 16, 1, 1), event_of(Op::malloc, 5, 32, 1, 1),
                                         event_of(Op::free, 7, 16, 1), event_of(Op::free, 8, 64, 1)},
                      0);
        writer.events(ThreadNumber{2},
                      std::vector<Event>{event_of(Op::malloc, 5, 16, 2, 1), event_of(Op::malloc, 10, 16, 2, 1)}, 0);
        writer.end({});
    }
    const Trace trace(path_);
    Story story;
    Playback(trace).play(story);
    EXPECT_EQ(story.text, "+16 -16 +32 -32 +16 -16 +16 ?64 03 !16 +16 ");
}

// Against a map, on random traces of one thread.
TEST_F(TraceTest, TheBlocksInUseAreThoseOfAMap) {
    std::mt19937_64 random(4);
    std::map<std::uint64_t, std::uint64_t> live;
    {
        Writer writer(path_);
        writer.start({});
        std::vector<Event> events;
        for (unsigned i = 0; i < 60000; ++i) {
            const std::uint64_t address = 16 * (1 + random() % 9000);
            const bool is_there = live.contains(address);
            events.push_back(event_of(is_there ? Op::free : Op::malloc, i, address, 0, is_there ? 0 : i));
            is_there ? void(live.erase(address)) : void(live.emplace(address, i));
        }
        writer.events(ThreadNumber{0}, events, 0);
        writer.end({});
    }
    const Trace trace(path_);
    Playback playback(trace);
    Story story;
    playback.play(story);
    EXPECT_EQ(story.text.find('?'), std::string::npos);
    EXPECT_EQ(story.text.find('!'), std::string::npos);
    std::map<std::uint64_t, std::uint64_t> found;
    playback.live().for_each([&](const Block &block) { found.emplace(block.address, block.size); });
    EXPECT_EQ(found, live);
    EXPECT_EQ(playback.live().count(), live.size());
}

}  // namespace gr::trace::file_test
