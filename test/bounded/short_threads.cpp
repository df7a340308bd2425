// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: masses of short threads: some only free what main allocated; others inherit blocks from the
//    thread before them, free these, allocate, free half and leave the rest.
// Invariant: a thread's start and end leave nothing behind, so memory must be flat however many there were.
// Must not know: whether the allocator has any state for each thread.
#include <array>
#include <thread>
#include <utility>

#include "options.hpp"
#include "parcel.hpp"
#include "rss.hpp"

using namespace gr::test;

namespace {

constexpr size_t kBlocks = 64;
using Blocks = std::array<Parcel *, kBlocks>;

void free_all(Blocks &blocks) {
    for (Parcel *&block : blocks)
        if (block != nullptr) free_parcel(std::exchange(block, nullptr));
}

void inherit_and_leave(Blocks &estate, const Spread &spread, size_t who) {
    spread.bind_me(who);
    Random random(1);
    free_all(estate);
    for (Parcel *&block : estate) block = make_parcel(random);
    for (size_t number = 0; number < kBlocks; number += 2) free_parcel(std::exchange(estate[number], nullptr));
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    Options options = {.steps = 10000, .threads = 2};
    int status = 0;
    if (!options.parse("Masses of short threads.", argc, argv, status)) return status;
    Random random(1);
    Blocks made = {};
    std::vector<Blocks> estates(options.threads);
    const Spread spread;
    Run run(options.steps, options.seconds);
    run.each([&] {
        for (Parcel *&block : made) block = make_parcel(random);
        std::vector<std::thread> threads;
        threads.emplace_back(free_all, std::ref(made));
        for (size_t number = 0; number < estates.size(); ++number)
            threads.emplace_back(inherit_and_leave, std::ref(estates[number]), std::cref(spread), number);
        for (std::thread &thread : threads) thread.join();
    });
    run.require_flat("short threads");
    return 0;
}
