// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the frame of every workload: its options, its threads, its clock, its line of JSON.
// Invariant: all threads exist before the clock starts and live until it has stopped; with --ops the work is the same
//    on every allocator, with --seconds the time is. Nothing is printed but the report, or one line to stderr.
// Must not know: which malloc it runs on; what the work is.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "program_options.hpp"

namespace gr::bench {

// Ends the program: what it does or what the allocator did is wrong.
template <typename... Values>
[[noreturn]] void fail(const char *format, Values... values) {
    std::fprintf(stderr, format, values...);
    std::fputc('\n', stderr);
    std::_Exit(1);
}

// malloc, whose failure ends the program.
inline void *allocate(std::size_t size) {
    void *const block = std::malloc(size);
    if (block == nullptr) fail("malloc(%zu): out of memory", size);
    return block;
}

// SplitMix64 (Steele, Lea, Flood 2014): the same numbers on every machine and in every library.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}
    std::uint64_t next() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15U;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
        return z ^ (z >> 31);
    }
    // Uniform in [0, bound), 0 < bound <= 2^32; its bias is below bound / 2^32.
    std::uint64_t below(std::uint64_t bound) { return ((next() >> 32) * bound) >> 32; }
    // Uniform in [first, last].
    std::uint64_t between(std::uint64_t first, std::uint64_t last) { return first + below(last - first + 1); }

  private:
    std::uint64_t state_;
};

struct Settings {
    std::size_t threads = 1;
    std::uint64_t operations = 0;  // of all threads together; 0: as many as --seconds allow
    double seconds = 0;            // 0: until --ops are done
    std::uint64_t seed = 1;
};

// One thread of the workload.
class Worker {
  public:
    Worker(const Settings &settings, std::size_t number, const std::atomic<bool> &stop)
        : random(settings.seed * kSeedStep + number),
          index(number),
          threads(settings.threads),
          quota_(settings.operations / settings.threads + (number < settings.operations % settings.threads)),
          endless_(settings.operations == 0),
          stop_(stop) {}

    // Whether to go on. Ask often enough that the clock is obeyed within a millisecond or so. A thread that has no CPU
    // before the time is over still does one turn: without an operation there is nothing to report.
    bool more() {
        if (!endless_) return done_ < quota_;
        if (std::exchange(fresh_, false)) return true;
        return !stop_.load(std::memory_order_relaxed);
    }
    // Counts what the workload calls its operations.
    void did(std::uint64_t operations) { done_ += operations; }
    std::uint64_t done() const { return done_; }
    // With --ops: how many are left for this thread; else as many as one likes.
    std::uint64_t left() const { return endless_ ? UINT64_MAX : done_ < quota_ ? quota_ - done_ : 0; }

    Random random;
    const std::size_t index;
    const std::size_t threads;

  private:
    static constexpr std::uint64_t kSeedStep = 1000003;  // threads of neighbouring seeds shall not share numbers

    std::uint64_t quota_;
    std::uint64_t done_ = 0;
    bool endless_;
    bool fresh_ = true;
    const std::atomic<bool> &stop_;
};

class Workload {
  public:
    // The defaults are what the source says, or what the file's head declares.
    Workload(std::string name, const std::string &summary, Settings defaults);

    // For the workload's own options, before parse().
    Options &options() { return options_; }
    const Settings &settings() const { return settings_; }
    const std::string &name() const { return name_; }

    // false: the program ends with exit_code(), since the options are wrong or ask for help.
    bool parse(int argc, char **argv);
    int exit_code() const { return options_.exit_code(); }

    // Runs work(worker) in every thread, all let go at once. The clock starts before the first can begin and stops when
    // the last has returned, whenever this thread is woken: else a short run would be measured by the scheduler.
    template <typename Work>
    void run(Work work) {
        const auto threads = static_cast<std::ptrdiff_t>(settings_.threads);
        std::atomic<bool> stop = false;
        std::latch ready(threads);
        std::latch go(1);
        std::latch returned(threads);
        std::vector<Clock::time_point> ends(settings_.threads);
        std::vector<std::uint64_t> done(settings_.threads);
        std::vector<std::thread> running;
        for (std::size_t index = 0; index < settings_.threads; ++index)
            running.emplace_back([&, index] {
                Worker worker(settings_, index, stop);
                ready.count_down();
                go.wait();
                work(worker);
                ends[index] = Clock::now();
                done[index] = worker.done();
                returned.arrive_and_wait();
            });
        ready.wait();
        const Clock::time_point start = Clock::now();
        go.count_down();
        if (settings_.seconds > 0) {
            std::this_thread::sleep_for(std::chrono::duration<double>(settings_.seconds));
            stop.store(true, std::memory_order_relaxed);
        }
        for (std::thread &thread : running) thread.join();
        seconds_ += std::chrono::duration<double>(*std::max_element(ends.begin(), ends.end()) - start).count();
        for (const std::uint64_t operations : done) operations_ += operations;
    }

    // A further figure for the report; `key` is snake_case with its unit at the end.
    void note(const std::string &key, double value) { notes_.emplace_back(key, value); }

    // Prints the report; the program's exit code.
    int report() const;

  private:
    using Clock = std::chrono::steady_clock;

    std::string name_;
    Settings settings_;
    Options options_;
    double seconds_ = 0;
    std::uint64_t operations_ = 0;
    std::vector<std::pair<std::string, double>> notes_;
};

}  // namespace gr::bench
