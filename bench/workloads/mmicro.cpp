// SPDX-License-Identifier: Apache-2.0 OR MIT
// What:      Question: does throughput stay, and memory with it, when there are many more threads than CPUs?
//            Source: LFMalloc (Dice and Garthwaite, "Mostly Lock-Free Malloc"), section 4, its program mmicro, there
//            run as "mmicro 64 :10000 200": 64 threads, 10 seconds, 200 bytes. Each thread allocates 64 blocks and
//            frees them in the order of their allocation.
// Invariant: verifies that a block still holds the number its thread wrote when it is freed. Prints one line of JSON.
// Must not know: which malloc it runs on.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "measured.hpp"

namespace {

struct Plan {
    std::size_t threads = 64;
    double seconds = 10;
    std::size_t blocks = 64;
    std::size_t size = 200;
};

// Returns the number of pairs of malloc and free.
unsigned long work(const Plan &plan, const std::atomic<bool> &stop) {
    std::vector<unsigned long *> held(plan.blocks);
    unsigned long rounds = 0;
    for (; !stop.load(std::memory_order_relaxed); ++rounds) {
        for (std::size_t number = 0; number < plan.blocks; ++number) {
            held[number] = static_cast<unsigned long *>(std::malloc(plan.size));
            if (held[number] == nullptr) {
                std::fprintf(stderr, "mmicro: malloc(%zu): out of memory\n", plan.size);
                std::abort();
            }
            *held[number] = rounds + number;
        }
        for (std::size_t number = 0; number < plan.blocks; ++number) {
            if (*held[number] != rounds + number) {
                std::fprintf(stderr, "mmicro: block %p changed while it was held\n", static_cast<void *>(held[number]));
                std::abort();
            }
            std::free(held[number]);
        }
    }
    return rounds * plan.blocks;
}

}  // namespace

int main(int argc, char **argv) {
    Plan plan;
    CLI::App app("LFMalloc's mmicro: pairs of malloc and free in a second, and peak memory.");
    app.add_option("--threads", plan.threads)->check(CLI::Range(1, 4096));
    app.add_option("--seconds", plan.seconds)->check(CLI::PositiveNumber);
    app.add_option("--blocks", plan.blocks)->check(CLI::Range(1, 1 << 20));
    app.add_option("--size", plan.size)->check(CLI::Range(sizeof(unsigned long), std::size_t{1} << 30));
    CLI11_PARSE(app, argc, argv);
    const gr::bench::Total total =
        gr::bench::run_for(plan.threads, plan.seconds, [&](const std::atomic<bool> &stop) { return work(plan, stop); });
    std::printf(
        "{\"workload\": \"mmicro\", \"threads\": %zu, \"blocks\": %zu, \"size\": %zu, \"seconds\": %.3f, "
        "\"pairs\": %lu, \"pairs_per_second\": %.0f, \"peak_kib\": %lu}\n",
        plan.threads, plan.blocks, plan.size, total.seconds, total.operations,
        static_cast<double>(total.operations) / total.seconds, gr::bench::peak_memory());
}
