// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do random sizes cost when most are tiny and a few large, in threads that share nothing?
//    Source: the pattern of the C library's own benchmark of malloc in threads, glibc-thread in public suites,
//    written anew from a description: each thread has 1,024 places, picks one at random, frees what is there
//    and allocates a block of a random size up to 32 KiB, the smaller the likelier: a power law, in which a
//    size is 2^2.25 times as likely as its double. Here no block is below 8 bytes. An operation is a
//    replacement.
// Invariant: verifies that a block still carries its stamp when it is freed.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <cmath>

#include "blocks.hpp"

namespace {

using namespace gr::bench;

constexpr double kSmallest = 8;
constexpr double kLargest = 32 * 1024;
constexpr double kPower = -2.25;
constexpr std::size_t kDrawn = 16 * 1024;

struct Shape {
    std::size_t places = 1024;
};

// Sizes drawn before the clock starts, for powers would take longer than an allocation. The density of a size is its
// kPower-th power; this is the inverse of what that adds up to.
std::vector<std::uint32_t> drawn_sizes(Random &random) {
    constexpr double kOne = kPower + 1;
    const double from = std::pow(kSmallest, kOne), to = std::pow(kLargest, kOne);
    std::vector<std::uint32_t> sizes(kDrawn);
    for (std::uint32_t &size : sizes) {
        const double share = static_cast<double>(random.next() >> 11) * 0x1p-53;
        size = static_cast<std::uint32_t>(std::pow(from + share * (to - from), 1 / kOne));
    }
    return sizes;
}

// Returns the largest number of bytes that were live.
std::uint64_t work(const Shape &shape, const std::vector<std::uint32_t> &sizes, Worker &worker) {
    std::vector<Block> blocks(shape.places);
    std::uint64_t live = 0, peak = 0;
    for (; worker.more(); worker.did(1)) {
        Block &block = blocks[worker.random.below(blocks.size())];
        if (block.words != nullptr) free_stamped(block, "glibc-thread");
        live -= block.size;
        block = allocate_stamped(worker.random, sizes[worker.random.below(sizes.size())]);
        live += block.size;
        peak = std::max(peak, live);
    }
    for (const Block &block : blocks)
        if (block.words != nullptr) free_stamped(block, "glibc-thread");
    return peak;
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("glibc-thread", "Random sizes, most of them tiny, replaced at random in every thread.",
                      {.threads = 8, .seconds = 5});
    workload.options().number("--places", shape.places, "of each thread", {1, 1 << 24});
    if (!workload.parse(argc, argv)) return workload.exit_code();
    Random random(workload.settings().seed);
    const std::vector<std::uint32_t> sizes = drawn_sizes(random);
    std::atomic<std::uint64_t> peaks = 0;
    workload.run([&](Worker &worker) { peaks += work(shape, sizes, worker); });
    workload.note("requested_peak_bytes", static_cast<double>(peaks.load()));
    return workload.report();
}
