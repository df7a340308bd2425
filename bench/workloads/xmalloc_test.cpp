// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what does a block cost that is always freed by another thread, when they come in large batches?
//    Source: the pattern that public suites call xmalloc-test, a descendant of Lever and Boreham's, written
//    anew from a description: some threads only allocate and fill batches with small blocks of mixed sizes,
//    as many others take any batch that is full and free it. Chosen here: batches of 4,096 blocks of 8 to
//    2,047 bytes, each doubling as likely as the next, in one queue for all, which has room for a batch of
//    each thread. The first half of --threads (the larger, if odd) allocates. An operation is a block's
//    malloc and free.
//    producer-consumer asks this question for small parcels and a queue for each consumer.
// Invariant: verifies that a block still carries its stamp when it is freed. Live bytes are counted by the batch.
// Must not know: which malloc it runs on.
#include <algorithm>

#include "blocks.hpp"
#include "handover.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kSmallest = 8;
constexpr unsigned kDoublings = 8;

struct Shape {
    std::size_t batch = 4096;
    unsigned doublings = kDoublings;
};

struct Batch {
    std::vector<Block> blocks;
    std::uint64_t bytes = 0;
};

struct Shared {
    std::size_t allocating;
    Queue<Batch> full;
    std::atomic<std::size_t> left;  // of those that allocate
    LiveBytes live;
};

void fill(const Shape &shape, std::uint64_t blocks, Worker &worker, Shared &shared) {
    Batch batch;
    batch.blocks.resize(shape.batch);
    for (std::uint64_t made = 0; made < blocks && worker.more(); made += shape.batch) {
        batch.blocks.resize(std::min<std::uint64_t>(shape.batch, blocks - made));
        batch.bytes = 0;
        for (Block &block : batch.blocks) {
            block = allocate_stamped(worker.random, drawn_size(worker.random, kSmallest, shape.doublings));
            batch.bytes += block.size;
        }
        shared.live.add(batch.bytes);
        shared.full.push(batch);
    }
    if (shared.left.fetch_sub(1) == 1) shared.full.close();
}

void free_batches(const Shape &shape, Worker &worker, Shared &shared) {
    Batch batch;
    batch.blocks.resize(shape.batch);
    while (shared.full.pop(batch)) {
        for (const Block &block : batch.blocks) free_stamped(block, "xmalloc-test");
        shared.live.remove(batch.bytes);
        worker.did(batch.blocks.size());
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("xmalloc-test", "Threads that fill batches with small blocks, and threads that free them.",
                      {.threads = 4, .seconds = 5});
    workload.options().number("--batch", shape.batch, "blocks handed over at once", {1, 1 << 20});
    workload.options().number("--doublings", shape.doublings, "of the size, from 8 bytes on", {1, 20});
    if (!workload.parse(argc, argv)) return workload.exit_code();
    const Settings &settings = workload.settings();
    if (settings.threads < 2)
        return std::fputs("xmalloc-test: --threads must be 2 or more: one allocates, one frees\n", stderr), 2;

    const std::size_t allocating = (settings.threads + 1) / 2;
    const Batch empty{.blocks = std::vector<Block>(shape.batch), .bytes = 0};
    Shared shared{
        .allocating = allocating, .full = Queue<Batch>(settings.threads, empty), .left = allocating, .live = {}};
    workload.run([&](Worker &worker) {
        if (worker.index < allocating)
            fill(shape, share(settings, worker.index, allocating), worker, shared);
        else
            free_batches(shape, worker, shared);
    });
    workload.note("requested_peak_bytes", shared.live.peak());
    return workload.report();
}
