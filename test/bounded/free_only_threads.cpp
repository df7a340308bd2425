// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one thread only allocates, the others only free (Hoard, section 2.2: private heaps grow without end).
// Invariant: after each round no thread is inside the allocator, and the superblocks are within the bound.
// Must not know: heaps, messages.
#include <thread>
#include <vector>

#include "ledger.hpp"
#include "options.hpp"
#include "rss.hpp"

using namespace gr::test;

namespace {

constexpr size_t kSize = 256;
constexpr size_t kBlocks = size_t{1} << 16;

// Each frees every n-th block, so that no superblock is one thread's alone.
void free_share(const std::vector<void *> &blocks, size_t number, size_t threads, const Spread &spread) {
    spread.bind_me(number + 1);
    for (size_t i = number; i < blocks.size(); i += threads) std::free(blocks[i]);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    Options options = {.steps = 40, .threads = 3};
    int status = 0;
    if (!options.parse("One allocates, the others only free.", argc, argv, status)) return status;
    const Spread spread;
    spread.bind_me(0);
    std::vector<void *> blocks(kBlocks);
    Ledger ledger(kSize);
    for (size_t step = 0; step < options.steps; ++step) {
        for (void *&block : blocks) block = std::malloc(kSize);
        ledger.allocated(kBlocks);
        ledger.require_bounded("one that allocates");
        std::vector<std::thread> threads;
        for (size_t number = 0; number < options.threads; ++number)
            threads.emplace_back(free_share, std::cref(blocks), number, options.threads, std::cref(spread));
        for (std::thread &thread : threads) thread.join();
        ledger.freed(kBlocks);
        ledger.require_bounded("others that free");
    }
    ledger.report("threads that only free");
    gr::black_box::require_sound_heap();
    return 0;
}
