// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a hundred thousand threads, each of which allocates a little, frees it and dies holding nothing.
// Invariant: what is live does not depend on how many there were, so neither may the superblocks nor what is resident.
// Must not know: whether the allocator has any state for each thread.
#include <array>
#include <thread>
#include <vector>

#include "ledger.hpp"
#include "options.hpp"
#include "rss.hpp"

using namespace gr::test;

namespace {

constexpr size_t kSize = 1024;
constexpr size_t kBlocks = 32;

void live_and_die(const Spread &spread, size_t number) {
    spread.bind_me(number);
    std::array<void *, kBlocks> blocks;
    for (void *&block : blocks) block = std::malloc(kSize);
    for (void *block : blocks) std::free(block);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    Options options = {.steps = 25000, .threads = 4};
    int status = 0;
    if (!options.parse("Threads that die holding nothing.", argc, argv, status)) return status;
    const Spread spread;
    std::vector<std::thread> threads(options.threads);
    live_and_die(spread, 0);  // what the library and libc need once
    Ledger ledger(kSize);
    ledger.allocated(kBlocks * options.threads);
    ledger.freed(kBlocks * options.threads);
    Run run(options.steps, options.seconds);
    run.each([&] {
        for (size_t number = 0; number < threads.size(); ++number)
            threads[number] = std::thread(live_and_die, std::cref(spread), number);
        for (std::thread &thread : threads) thread.join();
        ledger.require_bounded("threads that die empty-handed");
    });
    ledger.report("threads that die empty-handed");
    run.require_flat("threads that die empty-handed");
    gr::black_box::require_sound_heap();
    return 0;
}
