// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: is whatever hands out large blocks a bottleneck, when many threads want blocks too large for any
//    cache?
//    Source: ours, in no paper; a family of its own. Each thread holds a few blocks, of 32 KiB to 1 MiB, each
//    doubling as likely as the next, and replaces one picked at random. One word of each page of a block is
//    written, since a program that asks for a large block means to use it; --untouched leaves that out, and what
//    remains is the allocator alone. An operation is a replacement.
// Invariant: the first and the last word of a block hold a stamp; verifies it when the block is freed.
// Must not know: which malloc it runs on.
#include "blocks.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kSmallest = 32 * 1024;
constexpr unsigned kDoublings = 5;
constexpr std::size_t kPage = 4096;

struct Shape {
    std::size_t held = 8;
    bool untouched = false;
};

Block new_block(Random &random, const Shape &shape) {
    const Block block = allocate_stamped(random, drawn_size(random, kSmallest, kDoublings));
    const std::size_t words = block.size / sizeof *block.words;
    if (!shape.untouched) {
        for (std::size_t word = kPage / sizeof *block.words; word + 1 < words; word += kPage / sizeof *block.words) {
            block.words[word] = block.stamp;
        }
    }
    return block;
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload workload("large-blocks", "Blocks of 32 KiB to 1 MiB in many threads.", {.threads = 64, .seconds = 5});
    workload.options().number("--held", shape.held, "blocks of each thread", {1, 1 << 20});
    workload.options().flag("--untouched", shape.untouched, "write the first and the last word of a block only");
    if (!workload.parse(argc, argv)) return workload.exit_code();
    workload.run([&](Worker &worker) {
        std::vector<Block> blocks(shape.held);
        for (Block &block : blocks) block = new_block(worker.random, shape);
        for (; worker.more(); worker.did(1)) {
            Block &block = blocks[worker.random.below(blocks.size())];
            free_stamped(block, "large-blocks");
            block = new_block(worker.random, shape);
        }
        for (const Block &block : blocks) free_stamped(block, "large-blocks");
    });
    return workload.report();
}
