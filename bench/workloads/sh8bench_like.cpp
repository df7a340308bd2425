// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do threads pay whose blocks of mixed sizes are freed in other orders than they came?
//    Source: the pattern of MicroQuill's sh8bench, written anew from a description in public suites: as
//    sh6bench, in eight threads, some blocks freed last come, first gone, others the other way round. Chosen
//    here: a thread allocates groups of 1,000 blocks of 1 to 1,000 bytes, the smaller of two uniform numbers;
//    every fourth block stays until 32 groups are over; of the others, groups take turns to be freed in the
//    reverse order, in the order of allocation, and the first half in one and the second in the other. What
//    stayed is freed in the order of allocation. An operation is a block's malloc and free.
//    sh6bench-like has groups of equal sizes and retains more.
// Invariant: the first and the last byte of every block are written; verifies them when it is freed.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <span>

#include "workload.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kLargest = 1000;
constexpr std::size_t kOneStaysOf = 4;

struct Shape {
    std::size_t group = 1000;
    std::size_t groups = 32;  // until what stays is freed
};

struct Block {
    unsigned char *bytes;
    std::uint32_t size;
    unsigned char mark;
};

Block new_block(Random &random) {
    const std::size_t size = std::min(random.between(1, kLargest), random.between(1, kLargest));
    const Block block{static_cast<unsigned char *>(allocate(size)), static_cast<std::uint32_t>(size),
                      static_cast<unsigned char>(random.next())};
    block.bytes[0] = block.bytes[size - 1] = block.mark;
    return block;
}

void release(const Block &block) {
    if (block.bytes[0] != block.mark || block.bytes[block.size - 1] != block.mark)
        fail("sh8bench-like: block %p changed while it was held", static_cast<void *>(block.bytes));
    std::free(block.bytes);
}

void release_forwards(std::span<const Block> blocks) { std::for_each(blocks.begin(), blocks.end(), release); }
void release_backwards(std::span<const Block> blocks) { std::for_each(blocks.rbegin(), blocks.rend(), release); }

void release_group(std::span<const Block> blocks, std::uint64_t number) {
    const std::size_t half = blocks.size() / 2;
    switch (number % 3) {
        case 0:
            return release_backwards(blocks);
        case 1:
            return release_forwards(blocks);
        default:
            release_forwards(blocks.first(half));
            return release_backwards(blocks.subspan(half));
    }
}

// Returns the largest number of bytes that were live.
std::uint64_t work(const Shape &shape, Worker &worker) {
    std::vector<Block> group, staying;
    group.reserve(shape.group);
    staying.reserve(shape.group * shape.groups);
    std::uint64_t staying_bytes = 0, peak = 0;
    for (std::uint64_t number = 0; worker.more(); ++number) {
        const std::uint64_t count = std::min<std::uint64_t>(shape.group, worker.left());
        std::uint64_t group_bytes = 0;
        for (std::uint64_t made = 0; made < count; ++made) {
            const bool stays = made % kOneStaysOf == 0;
            const Block block = new_block(worker.random);
            (stays ? staying : group).push_back(block);
            (stays ? staying_bytes : group_bytes) += block.size;
        }
        peak = std::max(peak, staying_bytes + group_bytes);
        release_group(group, number);
        group.clear();
        if ((number + 1) % shape.groups == 0) {
            release_forwards(staying);
            staying.clear();
            staying_bytes = 0;
        }
        worker.did(count);
    }
    release_forwards(staying);
    return peak;
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("sh8bench-like", "Blocks of mixed sizes in many threads, freed forwards and backwards.",
                      {.threads = 8, .seconds = 5});
    const Range counts{1, 1 << 20};
    workload.options().number("--group", shape.group, "blocks", counts);
    workload.options().number("--groups", shape.groups, "until what stays is freed", counts);
    if (!workload.parse(argc, argv)) return workload.exit_code();
    std::atomic<std::uint64_t> peaks = 0;
    workload.run([&](Worker &worker) { peaks += work(shape, worker); });
    workload.note("requested_peak_bytes", static_cast<double>(peaks.load()));
    return workload.report();
}
