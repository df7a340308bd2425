// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what does it cost that a producer and its consumer work at the same time, and do more such pairs cost
//    more?
//    Source: Hoard (Berger et al., sections 2.2 and 4.2). In a pair one thread allocates and the other frees; there the
//    paper expects Hoard's worst case, a slowdown of at most two that does not grow with the processors. The paper runs
//    no such program. Chosen here: blocks of 64 bytes, handed over by 64; a queue of two batches, so that neither thread
//    has to wait for the other's turn. The first half of --threads are the producers. An operation is a block's malloc
//    and free.
// Invariant: verifies that a block holds its number when it is freed. A consumer calls no malloc.
// Must not know: which malloc it runs on.
#include <deque>

#include "handover.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kPlaces = 2;  // for batches in a queue

struct Shape {
    std::size_t size = 64;
    std::size_t batch = 64;
};

struct Batch {
    std::vector<std::uint64_t *> blocks;
    std::uint64_t first = 0;  // the number of its first block
};

// Of one pair, with all memory that it will need.
struct Pair {
    explicit Pair(const Shape &shape)
        : queue(kPlaces, Batch{std::vector<std::uint64_t *>(shape.batch)}),
          produced(shape.batch),
          consumed(shape.batch) {}

    Queue<Batch> queue;
    std::vector<std::uint64_t *> produced;
    std::vector<std::uint64_t *> consumed;
};

void produce(const Shape &shape, std::uint64_t blocks, Worker &worker, Pair &pair) {
    Batch batch{std::move(pair.produced)};
    for (std::uint64_t made = 0; made < blocks && worker.more(); made += shape.batch) {
        batch.first = made;
        std::uint64_t number = made;
        for (std::uint64_t *&block : batch.blocks) {
            block = static_cast<std::uint64_t *>(allocate(shape.size));
            *block = number++;
        }
        pair.queue.push(batch);
    }
    pair.queue.close();
}

void consume(Worker &worker, Pair &pair) {
    Batch batch{std::move(pair.consumed)};
    while (pair.queue.pop(batch)) {
        std::uint64_t number = batch.first;
        for (std::uint64_t *const block : batch.blocks) {
            if (*block != number++) fail("pairs: block %p changed on its way", static_cast<void *>(block));
            std::free(block);
        }
        worker.did(batch.blocks.size());
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("pairs", "Pairs of threads, of which one allocates what the other frees.",
                      {.threads = 2, .operations = 20'000'000});
    workload.options().number("--size", shape.size, "bytes", {sizeof(std::uint64_t), 1 << 30});
    workload.options().number("--batch", shape.batch, "blocks handed over at once", {1, 1 << 20});
    if (!workload.parse(argc, argv)) return workload.exit_code();
    const Settings &settings = workload.settings();
    if (settings.threads % 2 != 0)
        return std::fputs("pairs: --threads must be even: a producer and a consumer each\n", stderr), 2;

    const std::size_t pairs = settings.threads / 2;
    std::deque<Pair> all;
    while (all.size() < pairs) all.emplace_back(shape);
    workload.run([&](Worker &worker) {
        if (worker.index < pairs)
            produce(shape, share(settings, worker.index, pairs), worker, all[worker.index]);
        else
            consume(worker, all[worker.index - pairs]);
    });
    return workload.report();
}
