// SPDX-License-Identifier: Apache-2.0 OR MIT
// What:      Question: what do malloc and free of one size cost when nothing else happens?
//            Source: in the manner of linux-scalability (Lever and Boreham, "Malloc() Performance in a Multithreaded
//            Linux Environment", USENIX 2000), which LFMalloc runs in section 4; sizes and --batch are our own choice.
// Invariant: the first word of every block is written, since a block that nobody touches is no use; verifies that it
//            is still there before the free. Prints one line of JSON.
// Must not know: which malloc it runs on.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>

#include "measured.hpp"

namespace {

struct Plan {
    std::size_t size = 64;
    double seconds = 2;
    std::size_t threads = 1;
    std::size_t batch = 1;
};

// The stop is looked at once in so many batches, so that it costs nothing.
constexpr unsigned kUnobserved = 256;

void *block_with(std::size_t size, unsigned long word) {
    auto *block = static_cast<volatile unsigned long *>(std::malloc(size));
    if (block == nullptr) {
        std::fprintf(stderr, "loop: malloc(%zu): out of memory\n", size);
        std::abort();
    }
    *block = word;
    return const_cast<unsigned long *>(block);
}

void free_with(void *block, unsigned long word) {
    if (*static_cast<volatile unsigned long *>(block) != word) {
        std::fprintf(stderr, "loop: block %p changed while it was held\n", block);
        std::abort();
    }
    std::free(block);
}

unsigned long one_at_a_time(const Plan &plan, const std::atomic<bool> &stop) {
    unsigned long pairs = 0;
    while (!stop.load(std::memory_order_relaxed))
        for (unsigned turn = 0; turn < kUnobserved; ++turn, ++pairs) free_with(block_with(plan.size, pairs), pairs);
    return pairs;
}

unsigned long in_batches(const Plan &plan, const std::atomic<bool> &stop) {
    std::vector<void *> held(plan.batch);
    unsigned long pairs = 0;
    while (!stop.load(std::memory_order_relaxed))
        for (unsigned turn = 0; turn < kUnobserved; ++turn, pairs += plan.batch) {
            for (std::size_t number = 0; number < plan.batch; ++number)
                held[number] = block_with(plan.size, pairs + number);
            for (std::size_t number = 0; number < plan.batch; ++number) free_with(held[number], pairs + number);
        }
    return pairs;
}

}  // namespace

int main(int argc, char **argv) {
    Plan plan;
    CLI::App app("malloc and free of one size in a loop.");
    app.add_option("--size", plan.size)->check(CLI::Range(sizeof(unsigned long), std::size_t{1} << 30));
    app.add_option("--seconds", plan.seconds)->check(CLI::PositiveNumber);
    app.add_option("--threads", plan.threads)->check(CLI::Range(1, 4096));
    app.add_option("--batch", plan.batch)->check(CLI::Range(1, 1 << 20));
    CLI11_PARSE(app, argc, argv);
    const gr::bench::Total total = gr::bench::run_for(plan.threads, plan.seconds, [&](const std::atomic<bool> &stop) {
        return plan.batch == 1 ? one_at_a_time(plan, stop) : in_batches(plan, stop);
    });
    const double nanoseconds =
        total.seconds * 1e9 * static_cast<double>(plan.threads) / static_cast<double>(total.operations);
    std::printf(
        "{\"workload\": \"loop\", \"size\": %zu, \"threads\": %zu, \"batch\": %zu, \"seconds\": %.3f, "
        "\"pairs\": %lu, \"nanoseconds_per_pair\": %.3f, \"peak_kib\": %lu}\n",
        plan.size, plan.threads, plan.batch, total.seconds, total.operations, nanoseconds, gr::bench::peak_memory());
}
