// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: writes a trace of as many events as one likes, of a program that does not exist: synthetic_trace FILE EVENTS THREADS.
// Invariant: blocks lie where an allocator of size classes would put them; the same numbers give the same trace.
// Must not know: what the trace is wanted for.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "reading/trace/writer.hpp"

namespace gr::trace {
namespace {

constexpr std::size_t kWaiting = 400'000;  // blocks in use, at most
constexpr std::uint64_t kClass = 16;
constexpr std::size_t kClasses = 4096;

struct Used {
    std::uint64_t address;
    std::uint64_t size;
};

class Program {
  public:
    explicit Program(unsigned threads) : pending_(threads) {}

    void run(Writer *writer, std::uint64_t events) {
        for (std::uint64_t i = 0; i < events; ++i) {
            const auto thread = static_cast<unsigned>(random_() % pending_.size());
            time_ += random_() % 3;
            const bool frees = !used_.empty() && (used_.size() >= kWaiting || random_() % 100 < 49);
            pending_[thread].push_back(frees ? free_one(thread) : obtain(thread));
            if (pending_[thread].size() == kMostEvents) write(writer, thread);
        }
        for (unsigned thread = 0; thread < pending_.size(); ++thread) write(writer, thread);
    }
    [[nodiscard]] Time now() const { return Time{time_}; }

  private:
    void write(Writer *writer, unsigned thread) {
        writer->events(ThreadNumber{thread}, pending_[thread], 0);
        pending_[thread].clear();
    }
    Event event_of(unsigned thread, Op op, std::uint64_t address, std::uint64_t size) {
        Event event;
        event.time = Time{time_};
        event.thread = ThreadNumber{thread};
        event.op = op;
        event.address = address;
        event.size = size;
        return event;
    }
    Event obtain(unsigned thread) {
        const std::uint64_t size = 1 + random_() % (std::uint64_t{1} << (random_() % 13 + 1));
        const std::size_t its_class = std::min<std::size_t>((size + kClass - 1) / kClass, kClasses - 1);
        std::vector<std::uint64_t> &free = free_[its_class];
        std::uint64_t address = 0;
        if (free.empty()) {
            address = next_;
            next_ += its_class * kClass;
        } else {
            address = free.back();
            free.pop_back();
        }
        used_.push_back({address, size});
        Event event = event_of(thread, Op::malloc, address, size);
        if (random_() % 100 == 0) event.stack = StackNumber{static_cast<std::uint32_t>(1 + random_() % 1000)};
        if (random_() % 64 == 0) event.nanoseconds = static_cast<std::uint32_t>(20 + random_() % 200);
        return event;
    }
    // Most often one of the youngest.
    Event free_one(unsigned thread) {
        const std::size_t reach = std::min<std::size_t>(used_.size(), std::size_t{1} << (random_() % 19));
        const std::size_t place = used_.size() - 1 - random_() % reach;
        const Used used = used_[place];
        used_[place] = used_.back();
        used_.pop_back();
        free_[std::min<std::size_t>((used.size + kClass - 1) / kClass, kClasses - 1)].push_back(used.address);
        return event_of(thread, Op::free, used.address, 0);
    }

    std::mt19937_64 random_{1};
    std::uint64_t time_ = 0;
    std::vector<std::vector<Event>> pending_;
    std::vector<Used> used_;
    std::array<std::vector<std::uint64_t>, kClasses> free_;
    std::uint64_t next_ = 0x7f0000000000;
};

void write(const char *path, std::uint64_t events, unsigned threads) {
    Writer writer(path);
    Start start;
    start.program = "/bin/synthetic";
    start.page_bytes = 4096;
    start.stacks = Stacks::sampled;
    start.stack_bytes = 1 << 16;
    start.timed_calls = 64;
    writer.start(start);
    std::vector<StackNode> nodes;
    for (std::uint32_t i = 1; i <= 1000; ++i) nodes.push_back({StackNumber{i / 3}, 0x400000 + i * 32});
    writer.stacks(nodes);
    Program program(threads);
    program.run(&writer, events);
    writer.end({program.now(), End::Reason::exit, 0, writer.events_written(), 0});
}

}  // namespace
}  // namespace gr::trace

int main(int argc, char **argv) {
    if (argc != 4) {
        std::fputs("usage: synthetic_trace FILE EVENTS THREADS\n", stderr);
        return 2;
    }
    gr::trace::write(argv[1], std::strtoull(argv[2], nullptr, 0), static_cast<unsigned>(std::atoi(argv[3])));
    return 0;
}
