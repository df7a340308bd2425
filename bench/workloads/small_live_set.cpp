// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what does a small live set need when one thread allocates and others free?
//    Source: our own, beyond the papers. One thread, the first, allocates blocks of 16 to 2,015 bytes, uniform,
//    and puts each into a place picked at random among 2,000: some 2 MB are live. What was there goes, in
//    parcels of 64, to one of the other threads, which free it; each has room for 4 parcels. With --threads 3
//    two free. An operation is a block's malloc and free.
//    free-only asks this question for many allocating threads and a larger live set.
// Invariant: verifies that a block still carries its stamp when it is freed. Live bytes are counted by the parcel.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <deque>

#include "blocks.hpp"
#include "handover.hpp"

namespace {

using namespace gr::bench;

using Parcel = std::vector<Block>;

struct Shape {
    std::size_t places = 2000;
    std::size_t parcel = 64;
    std::size_t room = 4;  // parcels
    std::size_t min = 16;
    std::size_t max = 2015;
};

struct Shared {
    std::deque<Queue<Parcel>> rooms;  // one for each thread that frees
    LiveBytes live;
};

void produce(const Shape &shape, std::uint64_t blocks, Worker &worker, Shared &shared) {
    Random &random = worker.random;
    std::vector<Block> held(shape.places);
    Parcel old;
    old.reserve(shape.parcel);
    const auto send = [&] {
        shared.rooms[random.below(shared.rooms.size())].push(old);
        old.clear();
    };
    std::uint64_t bytes = 0;  // allocated since they were counted
    for (std::uint64_t made = 0; made < blocks; ++made) {
        Block &block = held[random.below(held.size())];
        if (block.words != nullptr) old.push_back(block);
        block = allocate_stamped(random, random.between(shape.min, shape.max));
        bytes += block.size;
        if (old.size() < shape.parcel) continue;
        shared.live.add(std::exchange(bytes, 0));
        send();
        if (!worker.more()) break;
    }
    shared.live.add(bytes);
    for (const Block &block : held) {
        if (block.words != nullptr) old.push_back(block);
        if (old.size() == shape.parcel) send();
    }
    send();
    for (Queue<Parcel> &room : shared.rooms) room.close();
}

void only_free(Queue<Parcel> &room, Worker &worker, LiveBytes &live) {
    Parcel parcel;
    while (room.pop(parcel)) {
        std::uint64_t bytes = 0;
        for (const Block &block : parcel) {
            bytes += block.size;
            free_stamped(block, "small-live-set");
        }
        live.remove(bytes);
        worker.did(parcel.size());
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("small-live-set", "One thread allocates, others free; 2 MB are live.",
                      {.threads = 3, .seconds = 120});
    const Range counts{1, 1 << 24};
    const Range sizes{sizeof(std::uint64_t), 1 << 30};
    workload.options().number("--places", shape.places, "of live blocks", counts);
    workload.options().number("--parcel", shape.parcel, "blocks handed over at once", counts);
    workload.options().number("--room", shape.room, "for parcels", counts);
    workload.options().number("--min", shape.min, "bytes", sizes);
    workload.options().number("--max", shape.max, "bytes", sizes);
    if (!workload.parse(argc, argv)) return workload.exit_code();
    const Settings &settings = workload.settings();
    if (settings.threads < 2)
        return std::fputs("small-live-set: --threads must be 2 or more: one allocates, one frees\n", stderr), 2;
    if (shape.max < shape.min) return std::fputs("small-live-set: --max is below --min\n", stderr), 2;

    Shared shared;
    Parcel empty;
    while (shared.rooms.size() + 1 < settings.threads) shared.rooms.emplace_back(shape.room, empty);
    workload.run([&](Worker &worker) {
        if (worker.index == 0)
            produce(shape, share(settings, 0, 1), worker, shared);
        else
            only_free(shared.rooms[worker.index - 1], worker, shared.live);
    });
    workload.note("requested_peak_bytes", shared.live.peak());
    return workload.report();
}
