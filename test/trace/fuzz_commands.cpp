// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: traces whose parts are changed at random, with checksums that match, given to all that the commands make of a
//    trace: fuzz_commands FIRST-SEED RUNS [TRACE...]. Each TRACE is a corpus beside the one made here. The soak's program is
//    built with sanitizers.
// Invariant: a run is its seed. Each ends: with what the command makes, or with a Failure of one line. No text that goes to
//    a terminal has a control character but the end of a line.
// Must not know: what a command should make of a damaged trace.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/failure.hpp"
#include "commands/diff/comparison.hpp"
#include "commands/export/arrow.hpp"
#include "commands/export/folded.hpp"
#include "commands/export/heaptrack.hpp"
#include "commands/export/perfetto.hpp"
#include "commands/export/pprof.hpp"
#include "commands/replay/planner.hpp"
#include "crafted_trace.hpp"
#include "reading/symbols/calls.hpp"
#include "reading/trace/writer.hpp"
#include "reporting/analysis/analysis.hpp"
#include "reporting/analysis/first_picture.hpp"
#include "reporting/document/document_json.hpp"
#include "reporting/document/document_text.hpp"

// Sanitizers call it before they end the process.
extern "C" void __asan_on_error();

namespace gr::tool {
namespace {

class Nowhere : public Sink {
  public:
    void write(std::string_view bytes) override { bytes_ += bytes.size(); }
    void finish() override {}

  private:
    std::uint64_t bytes_ = 0;
};

std::uint64_t seed_of_run = 0;

[[noreturn]] void fail(const std::string &what) {
    std::fprintf(stderr, "seed %llu: %s\n", static_cast<unsigned long long>(seed_of_run), what.c_str());
    std::abort();
}

void check_for_terminal(const std::string &text) {
    const auto controls = [](char byte) {
        return (static_cast<unsigned char>(byte) < 0x20 && byte != '\n') || byte == 0x7f;
    };
    if (std::ranges::any_of(text, controls)) fail("a control character would reach the terminal");
}

template <class Work>
void one_line_or(Work work) {
    try {
        work();
    } catch (const Failure &failure) {
        const std::string line = failure.what();
        if (line.find('\n') != std::string::npos) fail("a failure has more than one line: " + line);
        check_for_terminal(line);
    }
}

void summarize(const trace::Trace &trace) {
    Analyst analyst(trace);
    Course course;
    const Document whole = analyst.whole(course);
    check_for_terminal(to_text(whole));
    static_cast<void>(to_json(whole));
    static_cast<void>(to_json(first_picture(trace)));
    const std::uint64_t last = trace.last().units;
    static_cast<void>(to_json(analyst.window({trace::Time{last / 3}, trace::Time{last / 2 + 1}}, course)));
}

void compare(const trace::Trace &before, const trace::Trace &after) {
    const TimeAxis time(trace::Time{}, std::max(before.last(), after.last()));
    const Document document = comparison_of(use_of(before, time, {}), use_of(after, time, {}), time);
    check_for_terminal(to_text(document));
    static_cast<void>(to_json(document));
}

// All that the commands make of a trace.
void use_in_each_way(const trace::Trace &trace, const trace::Trace &other) {
    Nowhere nowhere;
    check_for_terminal(trace.damage());
    one_line_or([&] { summarize(trace); });
    one_line_or([&] { compare(trace, other); });
    one_line_or([&] { compare(other, trace); });
    const auto with_calls = [&](auto write) {
        one_line_or([&] {
            Calls calls(trace);
            write(calls);
        });
    };
    with_calls([&](Calls &calls) { write_pprof(trace, calls, Moment::peak, nowhere); });
    with_calls([&](Calls &calls) { write_folded(trace, calls, {Moment::total, false, false}, nowhere); });
    with_calls([&](Calls &calls) { write_folded(trace, calls, {Moment::peak, false, true}, nowhere); });
    with_calls([&](Calls &calls) { write_heaptrack(trace, calls, nowhere); });
    with_calls([&](Calls &calls) { write_arrow(trace, calls, true, nowhere); });
    one_line_or([&] { write_perfetto(trace, nowhere); });
    for (const Touch touch : {Touch::recorded, Touch::all, Touch::none}) {
        one_line_or([&] {
            Plan made;
            plan(trace, touch, &made);
        });
    }
}

class NamelessFile {
  public:
    explicit NamelessFile(trace::ByteView bytes) : file_(::memfd_create("trace", MFD_CLOEXEC)) {
        if (file_ < 0 || ::write(file_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) std::abort();
    }
    ~NamelessFile() { ::close(file_); }
    NamelessFile(const NamelessFile &) = delete;
    NamelessFile &operator=(const NamelessFile &) = delete;
    [[nodiscard]] std::string path() const { return fmt::format("/proc/self/fd/{}", file_); }

  private:
    int file_;
};

trace::Bytes contents_of(const std::string &path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

// Of each kind of chunk some, and of each kind of event.
trace::Bytes whole_trace() {
    using namespace trace;
    const NamelessFile file({});
    {
        Writer writer(file.path());
        writer.start({.program = "/usr/bin/program",
                      .arguments = {"program", "-x"},
                      .allocator = "/lib/libc.so.6",
                      .process = 17,
                      .page_bytes = 4096,
                      .cpus = 4,
                      .machine = "cpu",
                      .recorder = "0.1",
                      .stacks = Stacks::sampled,
                      .stack_bytes = 512,
                      .clock_nanoseconds = 9.5});
        writer.modules({Time{1}, {{0x1000, 0x2000, 0, "/usr/bin/program", "00ff"}, {0x2000, 0x3000, 0, "[vdso]", ""}}});
        writer.stacks(std::vector<StackNode>{
            {StackNumber{0}, 0x1234}, {StackNumber{1}, 0x1300}, {StackNumber{1}, 0x1400}, {StackNumber{3}, 0x2100}});
        writer.threads(
            std::vector<Thread>{{ThreadNumber{0}, 7, "main", Time{1}}, {ThreadNumber{1}, 8, "worker", Time{2}}});
        constexpr Op kOps[] = {Op::malloc, Op::calloc, Op::realloc_free, Op::realloc, Op::aligned_alloc,
                               Op::free,   Op::map,    Op::advise,       Op::unmap,   Op::brk};
        for (std::uint32_t thread = 0; thread < 3; ++thread) {
            std::vector<Event> events;
            for (std::uint32_t i = 0; i < 60; ++i) {
                Event event;
                event.op = kOps[i % std::size(kOps)];
                event.time = Time{std::uint64_t{i} * 5 + thread / 2};
                event.address = 0x100000 + ((i / 4) % 9) * 0x900 + thread * 0x10000;
                event.thread = ThreadNumber{thread};
                if (!frees(event.op)) event.size = 1 + std::uint64_t{i} * i * 7 % 9000;
                if (obtains(event.op)) event.stack = StackNumber{i % 5};
                if (event.op == Op::aligned_alloc || event.op == Op::advise) event.log2_alignment = 8;
                if (i % 10 == 0) event.nanoseconds = 30 + i;
                events.push_back(event);
            }
            writer.events(ThreadNumber{thread}, std::span(events).first(40), 0);
            writer.events(ThreadNumber{thread}, std::span(events).subspan(40), 0);
        }
        writer.marks(std::vector<Mark>{{Time{5}, ThreadNumber{0}, "phase"}});
        writer.samples(std::vector<Sample>{{.time = Time{2}, .resident_bytes = 1 << 20, .threads = 2},
                                           {.time = Time{200}, .resident_bytes = 1 << 21, .user_microseconds = 20}});
        writer.resident({Time{100}, 4096, {{0x100000, 8192}, {0x120000, 4096}}});
        writer.relative({Time{6}, 9, false, "child.trace"});
        writer.names(std::vector<NamedPlace>{
            {"/usr/bin/program", "00ff", 0x300, {{"main", "a.c", 3}, {"inner<int>", "b.h", 7}}}});
        writer.end({.time = Time{300}, .reason = End::Reason::exit, .events = 180});
    }
    return contents_of(file.path());
}

void run(std::uint64_t seed, const std::vector<trace::Bytes> &corpus) {
    seed_of_run = seed;
    trace::CraftedTrace crafted(corpus[seed % corpus.size()]);
    trace::TraceSpoiler(seed).spoil(&crafted);
    const NamelessFile spoilt(crafted.bytes());
    const NamelessFile whole(corpus.front());
    one_line_or([&] { use_in_each_way(trace::Trace(spoilt.path()), trace::Trace(whole.path())); });
}

}  // namespace
}  // namespace gr::tool

extern "C" void __asan_on_error() {
    std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(gr::tool::seed_of_run));
}

int main(int count, char **words) {
    if (count < 3) return 2;
    std::vector<gr::trace::Bytes> corpus{gr::tool::whole_trace()};
    for (int i = 3; i < count; ++i) corpus.push_back(gr::tool::contents_of(words[i]));
    const std::uint64_t first = std::strtoull(words[1], nullptr, 10);
    const std::uint64_t runs = std::strtoull(words[2], nullptr, 10);
    for (std::uint64_t seed = first; seed < first + runs; ++seed) {
        // A run takes milliseconds: who takes this long does not end.
        constexpr rlim_t kMostSeconds = 60;
        rusage used{};
        ::getrusage(RUSAGE_SELF, &used);
        const rlimit limit{static_cast<rlim_t>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) + kMostSeconds,
                           RLIM_INFINITY};
        ::setrlimit(RLIMIT_CPU, &limit);
        try {
            gr::tool::run(seed, corpus);
        } catch (const std::exception &error) {
            gr::tool::fail(error.what());
        }
    }
    std::printf("%llu runs\n", static_cast<unsigned long long>(runs));
    return 0;
}
