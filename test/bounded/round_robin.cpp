// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads in a ring, each of which allocates blocks that its neighbour frees (Hoard, section 6: the program
//    on which private heaps with ownership need P times the memory).
// Invariant: the program holds the same number of blocks in every round, so resident memory must be flat.
// Must not know: heaps.
#include <barrier>
#include <thread>
#include <vector>

#include "options.hpp"
#include "parcel.hpp"
#include "rss.hpp"

using namespace gr::test;

namespace {

constexpr size_t kBlocks = 2000;

struct Ring {
    explicit Ring(size_t threads)
        : given(threads, std::vector<Parcel *>(kBlocks)), step(static_cast<std::ptrdiff_t>(threads + 1)) {}

    std::vector<std::vector<Parcel *>> given;
    std::barrier<> step;
    bool finished = false;  // written between two barriers
};

// The barrier at the start of a round lets main end the run; the other lies between allocating and freeing.
void take_part(Ring &ring, const Spread &spread, size_t number) {
    spread.bind_me(number);
    const size_t neighbour = (number + 1) % ring.given.size();
    while (true) {
        ring.step.arrive_and_wait();
        if (ring.finished) return;
        Random random(number + 1);  // the same sizes in every round
        for (Parcel *&block : ring.given[neighbour]) block = make_parcel(random);
        ring.step.arrive_and_wait();
        for (Parcel *block : ring.given[number]) free_parcel(block);
    }
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    Options options = {.steps = 4000, .threads = 4};
    int status = 0;
    if (!options.parse("Each thread frees its neighbour's blocks.", argc, argv, status)) return status;
    Ring ring(options.threads);
    const Spread spread;
    std::vector<std::thread> threads;
    for (size_t number = 0; number < options.threads; ++number)
        threads.emplace_back(take_part, std::ref(ring), std::cref(spread), number);
    Run run(options.steps, options.seconds);
    run.each([&] {
        ring.step.arrive_and_wait();
        ring.step.arrive_and_wait();
    });
    ring.finished = true;
    ring.step.arrive_and_wait();
    for (std::thread &thread : threads) thread.join();
    run.require_flat("round robin");
    return 0;
}
