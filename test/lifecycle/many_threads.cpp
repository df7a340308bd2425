// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tens of thousands of short threads: that allocate and free, that only free, that leave all to others.
// Invariant: what the heap holds after many threads is what it held after few, and so is resident memory.
// Must not know: what the library keeps per thread (nothing, it claims).
#include "black_box.hpp"

#include <malloc.h>
#include <pthread.h>
#include <algorithm>
#include <array>
#include <vector>

namespace {

constexpr int kWarmUp = 1000;
constexpr int kThreads = 12000;
constexpr std::size_t kBatch = 64;
constexpr std::size_t kSlack = std::size_t{8} << 20;

using Batch = std::array<void *, kBatch>;

void fill(Batch &batch, std::size_t seed) {
    for (std::size_t i = 0; i < kBatch; ++i) {
        const std::size_t size = 16 + (seed * 131 + i * 37) % 2000;
        batch[i] = std::malloc(size);
        GR_REQUIRE(batch[i] != nullptr);
        std::memset(batch[i], 1, size);
    }
}

void drain(Batch &batch) { std::for_each(batch.begin(), batch.end(), std::free); }

void *allocate_and_free(void *) {
    Batch batch;
    fill(batch, 1);
    drain(batch);
    return nullptr;
}

void *only_free(void *batch) {
    drain(*static_cast<Batch *>(batch));
    return nullptr;
}

void *only_allocate(void *batch) {
    fill(*static_cast<Batch *>(batch), 3);
    return nullptr;
}

void run(void *(*body)(void *), void *argument) {
    pthread_t thread;
    GR_REQUIRE(pthread_create(&thread, nullptr, body, argument) == 0);
    GR_REQUIRE(pthread_join(thread, nullptr) == 0);
}

void run_threads(int count) {
    for (int i = 0; i < count / 3; ++i) {
        Batch batch;
        run(allocate_and_free, nullptr);
        fill(batch, static_cast<std::size_t>(i));
        run(only_free, &batch);
        run(only_allocate, &batch);
        drain(batch);
    }
}

std::size_t resident_bytes() {
    std::FILE *file = std::fopen("/proc/self/statm", "r");
    long pages = 0;
    GR_REQUIRE(file != nullptr && std::fscanf(file, "%*d %ld", &pages) == 1);
    std::fclose(file);
    return static_cast<std::size_t>(pages) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    run_threads(kWarmUp);
    const std::size_t resident_before = resident_bytes();
    if (!gr::black_box::granary_in_use()) {
        run_threads(kThreads);
        return 0;
    }
    const gr_statistics before = gr::black_box::statistics();
    run_threads(kThreads);
    const gr_statistics after = gr::black_box::statistics();
    GR_REQUIRE(after.live_blocks <= before.live_blocks + 8);
    GR_REQUIRE(after.heap_bytes <= before.heap_bytes + kSlack);
    GR_REQUIRE(after.metadata_bytes <= before.metadata_bytes + kSlack);
    GR_REQUIRE(resident_bytes() <= resident_before + kSlack);
    gr::black_box::require_sound_heap();
    return 0;
}
