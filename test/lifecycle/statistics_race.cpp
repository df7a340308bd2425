// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: statistics that are taken again and again while threads make and empty superblocks of every class.
// Invariant: each snapshot adds up, and nothing in it is more than there is.
// Must not know: how statistics are counted.
#include "black_box.hpp"

#include <malloc.h>
#include <atomic>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 3;
constexpr unsigned kReplacements = 4000000;
constexpr std::size_t kLargest = 32000;
constexpr unsigned kBlocks = 1024;

std::atomic<void *> blocks[kBlocks];
std::atomic<int> working{kThreads};

// Half of the blocks small, half of any size; now and then all go.
void churn(std::uint64_t seed) {
    gr::black_box::Sequence random(seed);
    for (unsigned i = 0; i < kReplacements; ++i) {
        const std::size_t size = random.below(2) == 0 ? 16 + random.below(64) : 1 + random.below(kLargest);
        std::free(blocks[random.below(kBlocks)].exchange(std::malloc(size)));
        if (i % 50000 != 0) continue;
        for (std::atomic<void *> &block : blocks) std::free(block.exchange(nullptr));
    }
    --working;
}

void check_snapshot() {
    gr_statistics s{};
    s.size = offsetof(gr_statistics, resident_bytes);
    GR_REQUIRE(gr_statistics_get(&s) == 0);
    const std::uint64_t in_superblocks = s.live_bytes - s.run_bytes - s.direct_bytes;
    GR_REQUIRE(in_superblocks <= s.block_bytes);
    GR_REQUIRE(in_superblocks + s.magazine_bytes + s.remote_bytes + s.free_bytes == s.block_bytes);
    GR_REQUIRE(s.block_bytes <= s.reserved_bytes);
    const struct mallinfo2 info = mallinfo2();
    GR_REQUIRE(info.fordblks <= info.arena);
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(churn, static_cast<std::uint64_t>(i + 1));
    while (working != 0) check_snapshot();
    for (std::thread &thread : threads) thread.join();
    check_snapshot();
    return 0;
}
