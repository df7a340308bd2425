// SPDX-License-Identifier: Apache-2.0 OR MIT
// What:      what the small workloads share: a start signal for threads that exist already, a clock, peak memory.
// Invariant: no thread is created or ends while the time runs.
// Must not know: which malloc it runs on.
#pragma once

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace gr::bench {

using Clock = std::chrono::steady_clock;

// In KiB, of this program alone: getrusage would count what the process was before exec, too.
inline unsigned long peak_memory() {
    std::ifstream status("/proc/self/status");
    std::string word;
    unsigned long kib = 0;
    while (status >> word)
        if (word == "VmHWM:") status >> kib;
    return kib;
}

struct Total {
    double seconds = 0;
    unsigned long operations = 0;
};

// Runs work(stop) in each thread; it returns how much it did once `stop` is set. Main sets it after `seconds`.
template <typename Work>
Total run_for(std::size_t threads, double seconds, Work work) {
    std::atomic<bool> stop = false;
    std::vector<unsigned long> done(threads);
    std::barrier<> gate(static_cast<std::ptrdiff_t>(threads + 1));
    std::vector<std::thread> running;
    for (std::size_t number = 0; number < threads; ++number)
        running.emplace_back([&, number] {
            gate.arrive_and_wait();
            done[number] = work(stop);
            gate.arrive_and_wait();
        });
    gate.arrive_and_wait();
    const Clock::time_point start = Clock::now();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    stop.store(true, std::memory_order_relaxed);
    Total total;
    total.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    gate.arrive_and_wait();
    for (std::thread &thread : running) thread.join();
    for (const unsigned long count : done) total.operations += count;
    return total;
}

}  // namespace gr::bench
