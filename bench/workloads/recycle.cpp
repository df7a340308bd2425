// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: does throughput grow with threads that have nothing to do with each other?
//    Source: Wasik's thesis, sections 6.2.1 and 7.1.2, Recycle: each thread allocates 1,000 blocks of 8 bytes
//    and frees them in the order of their allocation, until 10,000,000 have been allocated by all threads
//    together. An operation is a pair of malloc and free.
// Invariant: verifies that a block still holds the number its thread wrote when it is freed; the source writes
//    nothing.
// Must not know: which malloc it runs on.
#include <algorithm>

#include "workload.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    std::uint64_t blocks = 1000;
    std::size_t size = 8;
};

void work(const Shape &shape, Worker &worker) {
    std::vector<std::uint64_t *> held(shape.blocks);
    while (worker.more()) {
        const std::uint64_t first = worker.done();
        const std::uint64_t blocks = std::min(shape.blocks, worker.left());
        for (std::uint64_t number = 0; number < blocks; ++number) {
            held[number] = static_cast<std::uint64_t *>(allocate(shape.size));
            *held[number] = first + number;
        }
        for (std::uint64_t number = 0; number < blocks; ++number) {
            if (*held[number] != first + number)
                fail("recycle: block %p changed while it was held", static_cast<void *>(held[number]));
            std::free(held[number]);
        }
        worker.did(blocks);
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload recycle("recycle", "Wasik's Recycle: each thread allocates many small blocks, then frees them in order.",
                     {.threads = 1, .operations = 10'000'000});
    recycle.options().number("--blocks", shape.blocks, "held by a thread", {1, 1 << 20});
    recycle.options().number("--size", shape.size, "bytes", {sizeof(std::uint64_t), 1 << 30});
    if (!recycle.parse(argc, argv)) return recycle.exit_code();
    recycle.run([&](Worker &worker) { work(shape, worker); });
    recycle.note("requested_peak_bytes", static_cast<double>(recycle.settings().threads * shape.blocks * shape.size));
    return recycle.report();
}
