// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a service that answers large requests, less than a second apart, and then does nothing.
// Invariant: however often it did, what an idle process keeps beyond its live memory is a constant, but for pages that
//    the kernel takes first when memory is short. The pauses have a least length only: a slow machine is no fault.
// Must not know: how memory returns to the OS.
// Usage: idle_after_bursts THREADS
#include "black_box.hpp"

#include <chrono>
#include <thread>
#include <vector>

namespace {

constexpr std::size_t kBurst = std::size_t{96} << 20;
constexpr std::size_t kSlack = std::size_t{16} << 20;
constexpr int kBursts = 3;
constexpr auto kPause = std::chrono::milliseconds(400);

// VmRSS less LazyFree.
std::size_t resident_bytes() {
    std::FILE *file = std::fopen("/proc/self/smaps_rollup", "r");
    GR_REQUIRE(file != nullptr);
    char line[256];
    std::size_t resident = 0;
    std::size_t lazy = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) {
        static_cast<void>(std::sscanf(line, "Rss: %zu", &resident));
        static_cast<void>(std::sscanf(line, "LazyFree: %zu", &lazy));
    }
    std::fclose(file);
    GR_REQUIRE(resident > lazy);
    return (resident - lazy) << 10;
}

void answer_request(std::size_t bytes, std::size_t size) {
    std::vector<void *> blocks(bytes / size);
    for (void *&block : blocks) {
        block = std::malloc(size);
        GR_REQUIRE(block != nullptr);
        std::memset(block, 1, size);
    }
    for (void *block : blocks) std::free(block);
}

void burst(unsigned threads, std::size_t size) {
    if (threads == 1) return answer_request(kBurst, size);
    std::vector<std::thread> workers;
    for (unsigned i = 0; i < threads; ++i) workers.emplace_back(answer_request, kBurst / threads, size);
    for (std::thread &worker : workers) worker.join();
}

}  // namespace

int main(int, char **arguments) {
    gr::black_box::require_granary();
    const auto threads = static_cast<unsigned>(std::strtoul(arguments[1], nullptr, 10));
    const std::size_t before = resident_bytes();
    for (const std::size_t size : {std::size_t{100}, std::size_t{5000}, std::size_t{1} << 20}) {
        for (int i = 0; i < kBursts; ++i) {
            burst(threads, size);
            std::this_thread::sleep_for(kPause);
        }
        const std::size_t after = resident_bytes();
        if (after > before + before / 4 + kSlack)
            gr::black_box::leave(1, "blocks of %zu: %zu KiB resident before the bursts, %zu after\n", size,
                                 before >> 10, after >> 10);
    }
    gr::black_box::require_sound_heap();
    return 0;
}
