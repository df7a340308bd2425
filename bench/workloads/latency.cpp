// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: how long does a single call take: the usual one, one in a hundred, one in a thousand, the worst?
//    Source: our own; the papers give means only. Each thread has 4096 places and takes one at random in each
//    turn: it frees what lies there and allocates a block, log-uniformly from 16 bytes to 32 KiB. Every call is
//    timed by the steady clock; what the clock itself takes in the median is noted and not subtracted.
//    An operation is a free and a malloc.
// Invariant: verifies that a block still holds what its thread wrote at its head and its end when it is freed.
// Must not know: which malloc it runs on.
#include <array>
#include <bit>
#include <cmath>

#include "blocks.hpp"

namespace {

using namespace gr::bench;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kPlaces = 4096;
constexpr std::size_t kSmallest = 16;
constexpr unsigned kDoublings = 11;

// Counts of nanoseconds in steps of at most a thirty-second.
class Histogram {
  public:
    void add(std::uint64_t ns) { ++counts_[index_of(ns)]; }
    void add(const Histogram &other) {
        for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
    }
    // The least value that at least this share of all does not exceed, rounded up to the end of its step.
    double quantile(double share) const {
        std::uint64_t total = 0;
        for (const std::uint64_t count : counts_) total += count;
        const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(total)));
        std::uint64_t seen = 0;
        std::size_t last = 0;
        for (std::size_t i = 0; i < counts_.size() && (seen == 0 || seen < wanted); ++i) {
            seen += counts_[i];
            if (counts_[i] != 0) last = i;
        }
        return static_cast<double>(end_of(last));
    }

  private:
    static constexpr unsigned kStepsLog = 5;
    static constexpr std::uint64_t kSteps = std::uint64_t{1} << kStepsLog;

    static std::size_t index_of(std::uint64_t ns) {
        if (ns < kSteps) return ns;
        const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - kStepsLog;
        return (shift + 1) * kSteps + ((ns >> shift) - kSteps);
    }
    static std::uint64_t end_of(std::size_t index) {
        if (index < kSteps) return index;
        const auto shift = static_cast<unsigned>(index / kSteps - 1);
        return ((kSteps + index % kSteps + 1) << shift) - 1;
    }

    std::array<std::uint64_t, (64 - kStepsLog + 1) * kSteps> counts_{};
};

struct Times {
    Histogram mallocs;
    Histogram frees;
};

template <typename Call>
std::uint64_t nanoseconds_of(Call call) {
    const Clock::time_point start = Clock::now();
    call();
    return static_cast<std::uint64_t>(std::chrono::nanoseconds(Clock::now() - start).count());
}

struct Held {
    char *bytes = nullptr;
    std::size_t size = 0;
};

void turn(Held &block, Random &random, Times &times) {
    if (block.bytes != nullptr) {
        const char mark = static_cast<char>(block.size);
        if (block.bytes[0] != mark || block.bytes[block.size - 1] != mark)
            fail("latency: block %p changed while it was held", static_cast<void *>(block.bytes));
        times.frees.add(nanoseconds_of([&] { std::free(block.bytes); }));
    }
    block.size = drawn_size(random, kSmallest, kDoublings);
    void *bytes = nullptr;
    times.mallocs.add(nanoseconds_of([&] { bytes = std::malloc(block.size); }));
    if (bytes == nullptr) fail("malloc(%zu): out of memory", block.size);
    block.bytes = static_cast<char *>(bytes);
    block.bytes[0] = block.bytes[block.size - 1] = static_cast<char>(block.size);
}

double clock_in_the_median() {
    Histogram empty;
    for (unsigned i = 0; i < 100'000; ++i) empty.add(nanoseconds_of([] {}));
    return empty.quantile(0.5);
}

void note_quantiles(Workload &workload, const std::string &call, const Histogram &times) {
    workload.note(call + "_p50_ns", times.quantile(0.5));
    workload.note(call + "_p99_ns", times.quantile(0.99));
    workload.note(call + "_p999_ns", times.quantile(0.999));
    workload.note(call + "_max_ns", times.quantile(1));
}

}  // namespace

int main(int argc, char **argv) {
    Workload latency("latency", "How long single calls of malloc and free take.", {.threads = 2, .seconds = 5});
    if (!latency.parse(argc, argv)) return latency.exit_code();
    std::vector<Times> times(latency.settings().threads);
    std::vector<std::vector<Held>> places(latency.settings().threads, std::vector<Held>(kPlaces));
    latency.run([&](Worker &worker) {
        for (; worker.more(); worker.did(1))
            turn(places[worker.index][worker.random.below(kPlaces)], worker.random, times[worker.index]);
        for (const Held &block : places[worker.index]) std::free(block.bytes);
    });
    Times all;
    for (const Times &of_thread : times) {
        all.mallocs.add(of_thread.mallocs);
        all.frees.add(of_thread.frees);
    }
    Histogram calls = all.mallocs;
    calls.add(all.frees);
    note_quantiles(latency, "latency", calls);
    note_quantiles(latency, "malloc", all.mallocs);
    note_quantiles(latency, "free", all.frees);
    latency.note("clock_ns", clock_in_the_median());
    return latency.report();
}
