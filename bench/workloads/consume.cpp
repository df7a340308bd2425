// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: does memory stay bounded, and throughput with it, when one thread only allocates and others
//    only free?
//    Source: Wasik's thesis, sections 6.2.2 and 7.1.3, Consume: one producer fills an array of 6,000 blocks
//    of 8 bytes for each of one to seven consumers; a consumer frees the blocks of its array as soon as it is
//    full; when all arrays are empty the next round begins, 5,000 rounds in all. The first of --threads is
//    the producer. An operation is a block's malloc and free; the default is 5,000 rounds with one consumer,
//    with n consumers it takes --ops n times as large. --ops is rounded up to whole rounds.
// Invariant: verifies that a block holds its number when its consumer frees it; the source writes nothing.
// Must not know: which malloc it runs on.
#include "handover.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    std::size_t blocks = 6000;
    std::size_t size = 8;
};

struct Array {
    std::vector<std::uint64_t *> blocks;
    std::uint64_t first = 0;  // the number of its first block
    Queue<Array *> filled{1};
};

struct Shared {
    std::vector<Array> arrays;
    Queue<Array *> emptied;
    std::uint64_t rounds;
    LiveBytes live;
};

void produce(const Shape &shape, Worker &worker, Shared &shared) {
    std::uint64_t next = 0;
    for (std::uint64_t round = 0; round < shared.rounds && worker.more(); ++round) {
        for (Array &array : shared.arrays) {
            shared.live.add(shape.blocks * shape.size);
            array.first = next;
            for (std::uint64_t *&block : array.blocks) {
                block = static_cast<std::uint64_t *>(allocate(shape.size));
                *block = next++;
            }
            Array *full = &array;
            array.filled.push(full);
        }
        for (std::size_t waited = 0; waited < shared.arrays.size(); ++waited) {
            Array *empty = nullptr;
            shared.emptied.pop(empty);
        }
    }
    for (Array &array : shared.arrays) array.filled.close();
}

void consume(const Shape &shape, Worker &worker, Shared &shared) {
    Array *array = nullptr;
    while (shared.arrays[worker.index - 1].filled.pop(array)) {
        std::uint64_t number = array->first;
        for (std::uint64_t *const block : array->blocks) {
            if (*block != number++) fail("consume: block %p changed on its way", static_cast<void *>(block));
            std::free(block);
        }
        shared.live.remove(shape.blocks * shape.size);
        worker.did(shape.blocks);
        shared.emptied.push(array);
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("consume", "Wasik's Consume: one thread allocates arrays of blocks that the others free.",
                      {.threads = 2, .operations = 5'000 * 6'000});
    workload.options().number("--blocks", shape.blocks, "in each array", {1, 1 << 20});
    workload.options().number("--size", shape.size, "bytes", {sizeof(std::uint64_t), 1 << 30});
    if (!workload.parse(argc, argv)) return workload.exit_code();
    const Settings &settings = workload.settings();
    if (settings.threads < 2)
        return std::fputs("consume: --threads must be 2 or more: one of them produces\n", stderr), 2;

    const std::size_t consumers = settings.threads - 1;
    const std::uint64_t round = consumers * shape.blocks;
    Shared shared{.arrays = std::vector<Array>(consumers),
                  .emptied = Queue<Array *>(consumers),
                  .rounds = settings.operations == 0 ? UINT64_MAX : (settings.operations + round - 1) / round,
                  .live = {}};
    for (Array &array : shared.arrays) array.blocks.resize(shape.blocks);
    workload.run(
        [&](Worker &worker) { worker.index == 0 ? produce(shape, worker, shared) : consume(shape, worker, shared); });
    workload.note("requested_peak_bytes", shared.live.peak());
    return workload.report();
}
