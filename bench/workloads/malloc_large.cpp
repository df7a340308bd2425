// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what does a program pay that takes and gives back whole megabytes all the time, and uses them?
//    Source: the pattern that public suites call malloc-large, written anew from a description: one thread
//    replaces blocks of 5 to 25 MiB at random and writes each whole. Silent: how many are held; here 20, which
//    are empty in the beginning; and which comes first: here the new block is written before the old one is
//    freed. More threads share nothing. An operation is a replacement.
//    An allocator that returns each block to the OS pays a page fault and a cleared page for every 4 KiB of the next
//    one; one that keeps everything pays with memory.
// Invariant: every byte is written with the block's mark; verifies the first, the last and one drawn at random.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <cstring>

#include "workload.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kMiB = std::size_t{1} << 20;

struct Shape {
    std::size_t held = 20;
    std::size_t min = 5;  // MiB, as the next
    std::size_t max = 25;
};

struct Block {
    unsigned char *bytes = nullptr;
    std::size_t size = 0;
    unsigned char mark = 0;
};

void release(const Block &block, Random &random) {
    if (block.bytes == nullptr) return;
    for (const std::size_t place : {std::size_t{0}, random.below(block.size), block.size - 1})
        if (block.bytes[place] != block.mark)
            fail("malloc-large: block %p changed while it was held", static_cast<void *>(block.bytes));
    std::free(block.bytes);
}

Block new_block(const Shape &shape, Random &random) {
    const std::size_t size = random.between(shape.min * kMiB, shape.max * kMiB);
    const Block block{static_cast<unsigned char *>(allocate(size)), size, static_cast<unsigned char>(random.next())};
    std::memset(block.bytes, block.mark, size);
    return block;
}

// Returns the largest number of bytes that were live.
std::uint64_t work(const Shape &shape, Worker &worker) {
    std::vector<Block> blocks(shape.held);
    std::uint64_t live = 0, peak = 0;
    for (; worker.more(); worker.did(1)) {
        Block &block = blocks[worker.random.below(blocks.size())];
        const Block fresh = new_block(shape, worker.random);
        live += fresh.size;
        peak = std::max(peak, live);
        release(block, worker.random);
        live -= block.size;
        block = fresh;
    }
    for (const Block &block : blocks) release(block, worker.random);
    return peak;
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("malloc-large", "Blocks of 5 to 25 MiB, replaced at random and written whole.",
                      {.threads = 1, .operations = 1000});
    const Range mebibytes{1, 1 << 10};
    workload.options().number("--held", shape.held, "blocks of each thread", {1, 1 << 20});
    workload.options().number("--min", shape.min, "MiB", mebibytes);
    workload.options().number("--max", shape.max, "MiB", mebibytes);
    if (!workload.parse(argc, argv)) return workload.exit_code();
    if (shape.max < shape.min) return std::fputs("malloc-large: --max is below --min\n", stderr), 2;
    std::atomic<std::uint64_t> peaks = 0;
    workload.run([&](Worker &worker) { peaks += work(shape, worker); });
    workload.note("requested_peak_bytes", static_cast<double>(peaks.load()));
    return workload.report();
}
