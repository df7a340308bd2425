// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one worker after another, each on the next CPU, allocates; the one after it frees all but a block here and
//    there (Hoard, section 2.2: heaps that keep what they have need P times the memory).
// Invariant: only one thread works at a time, and after each turn the superblocks are within the bound.
// Must not know: heaps.
#include <thread>
#include <utility>
#include <vector>

#include "ledger.hpp"
#include "options.hpp"
#include "rss.hpp"

using namespace gr::test;

namespace {

constexpr size_t kSize = 256;
constexpr size_t kBlocks = size_t{1} << 17;
constexpr size_t kKeepOneOf = 128;

void work(std::vector<void *> &earlier, std::vector<void *> &blocks, const Spread &spread, size_t turn) {
    spread.bind_me(turn);
    for (size_t i = 0; i < earlier.size(); ++i)
        if (i % kKeepOneOf != 0) std::free(std::exchange(earlier[i], nullptr));
    for (void *&block : blocks) block = std::malloc(kSize);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    Options options = {.steps = 3, .threads = 8};
    int status = 0;
    if (!options.parse("Work that wanders from CPU to CPU.", argc, argv, status)) return status;
    const Spread spread;
    std::vector<std::vector<void *>> turns(options.threads, std::vector<void *>(kBlocks));
    std::vector<void *> none;
    Ledger ledger(kSize);
    for (size_t step = 0; step < options.steps; ++step) {
        for (size_t turn = 0; turn < turns.size(); ++turn) {
            std::vector<void *> &earlier = turn == 0 ? none : turns[turn - 1];
            std::thread(work, std::ref(earlier), std::ref(turns[turn]), std::cref(spread), turn).join();
            if (turn != 0) ledger.freed(kBlocks - kBlocks / kKeepOneOf);
            ledger.allocated(kBlocks);
            ledger.require_bounded("work that wanders");
        }
        for (std::vector<void *> &blocks : turns)
            for (void *&block : blocks) std::free(std::exchange(block, nullptr));
        ledger.freed(kBlocks + (turns.size() - 1) * (kBlocks / kKeepOneOf));
        ledger.require_bounded("work that wandered");
    }
    ledger.report("work that wanders");
    gr::black_box::require_sound_heap();
    return 0;
}
