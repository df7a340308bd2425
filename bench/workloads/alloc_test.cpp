// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do blocks cost whose lives are as uneven as a real program's: a few places change all the
//    time, most hardly ever?
//    Source: the pattern that public suites call alloc-test, written anew from a description: each thread has a
//    table of places and picks one, four of five times among the first fifth, and there again so, six times
//    nested; a full one is emptied, an empty one filled with a block of a random size up to 1 KiB, each
//    doubling half as likely as the one before, which is written whole. Silent: how many places; here
//    65,536. An operation is a malloc or a free.
// Invariant: every byte is written with the block's mark; verifies the first and the last before it is freed.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <bit>
#include <cstring>

#include "workload.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kSmallest = 8;
constexpr unsigned kDoublings = 7;
constexpr unsigned kNested = 6;
constexpr std::uint64_t kParts = 5;  // one of which is picked as often as all others are not

struct Shape {
    std::size_t places = 65'536;
};

struct Block {
    unsigned char *bytes = nullptr;
    std::uint32_t size = 0;
    unsigned char mark = 0;
};

std::size_t picked(Random &random, std::size_t places) {
    for (unsigned level = 0; level < kNested && places >= kParts; ++level) {
        const std::size_t hot = places / kParts;
        if (random.below(kParts) == 0) return random.between(hot, places - 1);
        places = hot;
    }
    return random.below(places);
}

// A doubling more for each zero at the end of a random number: half as likely as without.
std::size_t drawn_size(Random &random) {
    const std::uint64_t bits = random.next() | std::uint64_t{1} << (kDoublings - 1);
    const std::size_t from = kSmallest << std::countr_zero(bits);
    return random.between(from, 2 * from - 1);
}

void empty(Block &block) {
    if (block.bytes[0] != block.mark || block.bytes[block.size - 1] != block.mark)
        fail("alloc-test: block %p changed while it was held", static_cast<void *>(block.bytes));
    std::free(block.bytes);
    block = {};
}

// Returns the largest number of bytes that were live.
std::uint64_t work(const Shape &shape, Worker &worker) {
    std::vector<Block> blocks(shape.places);
    std::uint64_t live = 0, peak = 0;
    for (; worker.more(); worker.did(1)) {
        Block &block = blocks[picked(worker.random, blocks.size())];
        if (block.bytes != nullptr) {
            live -= block.size;
            empty(block);
            continue;
        }
        const std::size_t size = drawn_size(worker.random);
        block = {static_cast<unsigned char *>(allocate(size)), static_cast<std::uint32_t>(size),
                 static_cast<unsigned char>(worker.random.next())};
        std::memset(block.bytes, block.mark, size);
        live += size;
        peak = std::max(peak, live);
    }
    for (Block &block : blocks)
        if (block.bytes != nullptr) empty(block);
    return peak;
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("alloc-test", "Places that are filled and emptied, a few of them nearly always.",
                      {.threads = 1, .seconds = 5});
    workload.options().number("--places", shape.places, "of each thread", {1, 1 << 28});
    if (!workload.parse(argc, argv)) return workload.exit_code();
    std::atomic<std::uint64_t> peaks = 0;
    workload.run([&](Worker &worker) { peaks += work(shape, worker); });
    workload.note("requested_peak_bytes", static_cast<double>(peaks.load()));
    return workload.report();
}
