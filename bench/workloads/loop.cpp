// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do malloc and free of one size cost when nothing else happens?
//    Source: our own, in the manner of linux-scalability (see there). An operation is a pair.
// Invariant: the first word of every block is written, since a block that is not touched is of no use; verifies that it
//    is still there before the free.
// Must not know: which malloc it runs on.
#include "workload.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    std::size_t size = 64;
    std::size_t batch = 1;
};

// The end is looked for once in so many batches, so that it costs nothing.
constexpr unsigned kUnobserved = 256;

void *block_with(std::size_t size, std::uint64_t word) {
    auto *const block = static_cast<volatile std::uint64_t *>(allocate(size));
    *block = word;
    return const_cast<std::uint64_t *>(block);
}

void free_with(void *block, std::uint64_t word) {
    if (*static_cast<volatile std::uint64_t *>(block) != word) fail("loop: block %p changed while it was held", block);
    std::free(block);
}

void one_at_a_time(const Shape &shape, Worker &worker) {
    for (; worker.more(); worker.did(kUnobserved))
        for (unsigned turn = 0; turn < kUnobserved; ++turn) free_with(block_with(shape.size, turn), turn);
}

void in_batches(const Shape &shape, Worker &worker) {
    std::vector<void *> held(shape.batch);
    for (; worker.more(); worker.did(kUnobserved * shape.batch))
        for (unsigned turn = 0; turn < kUnobserved; ++turn) {
            for (std::size_t number = 0; number < shape.batch; ++number)
                held[number] = block_with(shape.size, turn + number);
            for (std::size_t number = 0; number < shape.batch; ++number) free_with(held[number], turn + number);
        }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload loop("loop", "malloc and free of one size in a loop.", {.threads = 1, .seconds = 2});
    loop.options().number("--size", shape.size, "bytes", {sizeof(std::uint64_t), 1 << 30});
    loop.options().number("--batch", shape.batch, "allocated, then freed", {1, 1 << 20});
    if (!loop.parse(argc, argv)) return loop.exit_code();
    loop.run([&](Worker &worker) { shape.batch == 1 ? one_at_a_time(shape, worker) : in_batches(shape, worker); });
    return loop.report();
}
