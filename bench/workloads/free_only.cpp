// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: is memory that is freed by a thread that never allocates found again by those that never free?
//    Source: our own, beyond the papers; Consume asks this question for one size, with hardly anything live.
//    Fifteen threads only allocate, blocks of 16 to 255 bytes, each doubling as likely as the next, and put
//    parcels of 64 into the queue of a thread that only frees (there is one; --freeing says how many of
//    --threads, the last). It keeps up to 100,000 blocks: each new one takes a place chosen at random, whose
//    old block is freed. An operation is a block's malloc and free.
// Invariant: verifies that a block still carries its stamp when it is freed. A freeing thread calls no malloc. Live
//    bytes are counted by the parcel.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <deque>

#include "blocks.hpp"
#include "handover.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kSmallest = 16;
constexpr unsigned kDoublings = 4;
constexpr std::size_t kPlaces = 16;  // for parcels in a queue

struct Shape {
    std::size_t freeing = 1;
    std::size_t kept = 100'000;
    std::size_t parcel = 64;
};

using Blocks = std::vector<Block>;

// One for each thread that only frees, with all memory it will ever need.
struct Sink {
    explicit Sink(const Shape &shape) : queue(kPlaces, Blocks(shape.parcel)), parcel(shape.parcel), kept(shape.kept) {}

    Queue<Blocks> queue;
    Blocks parcel;
    Blocks kept;
};

struct Shared {
    std::deque<Sink> sinks;
    std::atomic<std::size_t> allocating;
    LiveBytes live;
};

void only_allocate(const Shape &shape, std::uint64_t blocks, Worker &worker, Shared &shared) {
    Blocks parcel(shape.parcel);
    for (std::uint64_t made = 0; made < blocks && worker.more(); made += shape.parcel) {
        parcel.resize(std::min<std::uint64_t>(shape.parcel, blocks - made));
        std::uint64_t bytes = 0;
        for (Block &block : parcel) {
            block = allocate_stamped(worker.random, drawn_size(worker.random, kSmallest, kDoublings));
            bytes += block.size;
        }
        shared.live.add(bytes);
        shared.sinks[worker.random.below(shared.sinks.size())].queue.push(parcel);
    }
    if (shared.allocating.fetch_sub(1) == 1)
        for (Sink &sink : shared.sinks) sink.queue.close();
}

void only_free(Sink &sink, Worker &worker, LiveBytes &live) {
    while (sink.queue.pop(sink.parcel)) {
        std::uint64_t bytes = 0, freed = 0;
        for (Block &block : sink.parcel) {
            std::swap(block, sink.kept[worker.random.below(sink.kept.size())]);
            if (block.words == nullptr) continue;
            bytes += block.size;
            ++freed;
            free_stamped(block, "free-only");
        }
        live.remove(bytes);
        worker.did(freed);
    }
    for (const Block &block : sink.kept) {
        if (block.words == nullptr) continue;
        free_stamped(block, "free-only");
        worker.did(1);
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("free-only", "Some threads only allocate, others only free.", {.threads = 16, .seconds = 5});
    workload.options().number("--freeing", shape.freeing, "threads that only free", {1, 4095});
    workload.options().number("--kept", shape.kept, "by each of them", {1, 1 << 28});
    workload.options().number("--parcel", shape.parcel, "blocks handed over at once", {1, 1 << 20});
    if (!workload.parse(argc, argv)) return workload.exit_code();
    const Settings &settings = workload.settings();
    if (settings.threads <= shape.freeing) {
        std::fprintf(stderr, "free-only: --threads must be %zu or more: one at least allocates\n", shape.freeing + 1);
        return 2;
    }

    const std::size_t allocating = settings.threads - shape.freeing;
    Shared shared{.sinks = {}, .allocating = allocating, .live = {}};
    while (shared.sinks.size() < shape.freeing) shared.sinks.emplace_back(shape);
    workload.run([&](Worker &worker) {
        if (worker.index < allocating)
            only_allocate(shape, share(settings, worker.index, allocating), worker, shared);
        else
            only_free(shared.sinks[worker.index - allocating], worker, shared.live);
    });
    workload.note("requested_peak_bytes", shared.live.peak());
    return workload.report();
}
