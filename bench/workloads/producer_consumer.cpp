// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do throughput and memory become when most blocks are freed by another thread than the one
//    that allocated them, in many threads of both kinds?
//    Source: our own, beyond the papers. The first half of --threads (the larger, if odd) produces parcels of
//    32 blocks, 16 to 4,095 bytes, each doubling as likely as the next, and puts each parcel into the queue of
//    a consumer chosen at random; a queue has room for 64. A full queue makes producers wait, an empty one its
//    consumer. An operation is a block's malloc and free.
// Invariant: verifies that a block still carries its stamp when it is freed. Live bytes are counted by the parcel.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <deque>

#include "blocks.hpp"
#include "handover.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kSmallest = 16;
constexpr unsigned kDoublings = 8;

struct Shape {
    std::size_t parcel = 32;
    std::size_t places = 64;
};

struct Parcel {
    std::vector<Block> blocks;
    std::uint64_t bytes = 0;
};

struct Market {
    std::size_t producers;
    std::deque<Queue<Parcel>> queues;
    std::atomic<std::size_t> producing;
    LiveBytes live;
};

void produce(const Shape &shape, std::uint64_t blocks, Worker &worker, Market &market) {
    Parcel parcel;
    parcel.blocks.resize(shape.parcel);
    for (std::uint64_t made = 0; made < blocks && worker.more(); made += shape.parcel) {
        parcel.blocks.resize(std::min<std::uint64_t>(shape.parcel, blocks - made));
        parcel.bytes = 0;
        for (Block &block : parcel.blocks) {
            block = allocate_stamped(worker.random, drawn_size(worker.random, kSmallest, kDoublings));
            parcel.bytes += block.size;
        }
        market.live.add(parcel.bytes);
        market.queues[worker.random.below(market.queues.size())].push(parcel);
    }
    if (market.producing.fetch_sub(1) == 1)
        for (Queue<Parcel> &queue : market.queues) queue.close();
}

void consume(const Shape &shape, Worker &worker, Market &market) {
    Parcel parcel;
    parcel.blocks.resize(shape.parcel);
    while (market.queues[worker.index - market.producers].pop(parcel)) {
        for (const Block &block : parcel.blocks) free_stamped(block, "producer-consumer");
        market.live.remove(parcel.bytes);
        worker.did(parcel.blocks.size());
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("producer-consumer", "Producers hand blocks of random sizes to consumers, many of both.",
                      {.threads = 8, .seconds = 5});
    workload.options().number("--parcel", shape.parcel, "blocks handed over at once", {1, 1 << 20});
    workload.options().number("--places", shape.places, "for parcels in a queue", {1, 1 << 20});
    if (!workload.parse(argc, argv)) return workload.exit_code();
    const Settings &settings = workload.settings();
    if (settings.threads < 2)
        return std::fputs("producer-consumer: --threads must be 2 or more: a producer and a consumer\n", stderr), 2;

    const std::size_t producers = (settings.threads + 1) / 2;
    Market market{.producers = producers, .queues = {}, .producing = producers, .live = {}};
    const Parcel empty{.blocks = std::vector<Block>(shape.parcel), .bytes = 0};
    for (std::size_t consumer = producers; consumer < settings.threads; ++consumer)
        market.queues.emplace_back(shape.places, empty);
    workload.run([&](Worker &worker) {
        if (worker.index < producers)
            produce(shape, share(settings, worker.index, producers), worker, market);
        else
            consume(shape, worker, market);
    });
    workload.note("requested_peak_bytes", market.live.peak());
    return workload.report();
}
