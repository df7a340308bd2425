// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: does throughput stay, and memory with it, when there are many more threads than CPUs?
//    Source: LFMalloc (Dice and Garthwaite, "Mostly Lock-Free Malloc"), section 4, its program mmicro, there
//    run as "mmicro 64 :10000 200": 64 threads, 10 seconds, 200 bytes (table 2; 64 bytes in table 3). Each
//    thread allocates 64 blocks and frees them in the order of their allocation. An operation is a pair.
// Invariant: verifies that a block still holds the number its thread wrote when it is freed.
// Must not know: which malloc it runs on.
#include "workload.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    std::size_t blocks = 64;
    std::size_t size = 200;
};

void work(const Shape &shape, Worker &worker) {
    std::vector<std::uint64_t *> held(shape.blocks);
    while (worker.more()) {
        const std::uint64_t first = worker.done();
        for (std::size_t number = 0; number < shape.blocks; ++number) {
            held[number] = static_cast<std::uint64_t *>(allocate(shape.size));
            *held[number] = first + number;
        }
        for (std::size_t number = 0; number < shape.blocks; ++number) {
            if (*held[number] != first + number)
                fail("mmicro: block %p changed while it was held", static_cast<void *>(held[number]));
            std::free(held[number]);
        }
        worker.did(shape.blocks);
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload mmicro("mmicro", "LFMalloc's mmicro: pairs of malloc and free in a second, and peak memory.",
                    {.threads = 64, .seconds = 10});
    mmicro.options().number("--blocks", shape.blocks, "held by a thread", {1, 1 << 20});
    mmicro.options().number("--size", shape.size, "bytes", {sizeof(std::uint64_t), 1 << 30});
    if (!mmicro.parse(argc, argv)) return mmicro.exit_code();
    mmicro.run([&](Worker &worker) { work(shape, worker); });
    return mmicro.report();
}
