// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what if threads come and go, as in a server, and leave their blocks to successors?
//    Source: Larson and Krishnan's program as the papers describe it. Hoard (5.2): threads are repeatedly
//    spawned to allocate and free 10,000 blocks of 10 to 100 bytes in random order, some of which are left for
//    a subsequent thread, for 30 seconds. Wasik (6.2.4, 7.1.5): a thread is passed an array of 10,000 objects,
//    100,000 times replaces one picked at random, then passes the whole array to a new thread; followed here.
//    LFMalloc (4.1): no worker may run before the clock starts; it added a barrier, here the frame's.
//    --memset writes each block whole, as Boehm's version does, since the original touches one cache line.
//    --by gc is the collector in malloc's place, with --keep the free that does nothing (Boehm).
//    --without-malloc is LFMalloc's control (4.2): the same picks and writes, but on the blocks as passed.
//    larson-small (Boehm) is this program with --min and --max at the smallest size; the text at hand has lost
//    the number: --min 8 --max 8, the size the other papers take for their smallest objects. Lost, too, are
//    the sizes of Boehm's larson, which a README suggested (Hoard 2.1.2d's has 8 to 16).
//    Contradictions: Hoard leaves "a number of blocks" to the successor, Wasik all; Hoard does not say that the
//    10,000 are each thread's, but only so its table 4 has 8.2 MB in use on 14 processors; the mean there is
//    58.04 bytes, uniform from 10 to 100 gives 55; Hoard counts memory operations, Wasik and Boehm allocations.
//    Chosen here: the main thread allocates the first arrays before the clock starts; a generation is started
//    by a thread that outlives it, while its predecessor is still ending. An operation is a replacement: one
//    free and one malloc.
// Invariant: the first and the last byte of every block are written; verifies that they are unchanged when the block is
//    picked, mostly by the same generation, in one of ten cases by the next; and all once more at the end.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <cstring>
#include <deque>
#include <semaphore>

#include "memory.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    std::size_t blocks = 10'000;         // of each thread
    std::uint64_t generation = 100'000;  // replacements
    std::size_t min = 10;
    std::size_t max = 100;
    bool memset = false;
    bool without_malloc = false;
};

struct Block {
    unsigned char *bytes;
    std::uint32_t size;
    unsigned char mark;
};

Block new_block(const Memory &memory, std::size_t size) {
    return {static_cast<unsigned char *>(memory.take(size)), static_cast<std::uint32_t>(size), 0};
}

void write(const Shape &shape, Block &block, unsigned char mark) {
    block.mark = mark;
    if (shape.memset)
        std::memset(block.bytes, mark, block.size);
    else
        block.bytes[0] = block.bytes[block.size - 1] = mark;
}

void verify(const Block &block) {
    if (block.bytes[0] != block.mark || block.bytes[block.size - 1] != block.mark)
        fail("larson: block %p changed while it was held", static_cast<void *>(block.bytes));
}

// Threads one after another, and the blocks that each passes to the next. No two lineages share a cache line.
class alignas(64) Lineage {
  public:
    Lineage(const Shape &shape, const Memory &memory, Random &random)
        : shape_(shape), memory_(memory), blocks_(shape.blocks) {
        memory.add_roots(blocks_.data(), blocks_.data() + blocks_.size());
        for (std::size_t number = 0; number < shape.blocks; ++number) {
            blocks_[number] = new_block(memory, random.between(shape.min, shape.max));
            write(shape, blocks_[number], static_cast<unsigned char>(number));
            live_bytes_ += blocks_[number].size;
        }
        peak_bytes_ = live_bytes_;
    }

    // Runs in a thread that outlives the generations.
    void run(Worker &worker) {
        std::thread ending;
        do {
            std::thread living([&] { live(worker); });
            if (ending.joinable()) ending.join();
            passed_on_.acquire();
            ending = std::move(living);
            ++generations_;
        } while (worker.more());
        ending.join();
    }

    void end() {
        for (const Block &block : blocks_) {
            verify(block);
            memory_.give(block.bytes);
        }
    }

    std::uint64_t generations() const { return generations_; }
    std::uint64_t peak_bytes() const { return peak_bytes_; }

  private:
    void live(Worker &worker) {
        const Memory::Member member(memory_);
        Random &random = worker.random;
        for (std::uint64_t number = 0; number < shape_.generation && worker.more(); ++number) {
            Block &block = blocks_[random.below(blocks_.size())];
            replace(block, random.between(shape_.min, shape_.max));
            write(shape_, block, static_cast<unsigned char>(worker.done()));
            worker.did(1);
        }
        passed_on_.release();
    }
    void replace(Block &block, std::size_t size) {
        verify(block);
        if (shape_.without_malloc) return;
        memory_.give(block.bytes);
        live_bytes_ -= block.size;
        block = new_block(memory_, size);
        live_bytes_ += size;
        peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    }

    const Shape &shape_;
    const Memory &memory_;
    std::vector<Block> blocks_;
    std::uint64_t live_bytes_ = 0;
    std::uint64_t peak_bytes_ = 0;
    std::uint64_t generations_ = 0;
    std::binary_semaphore passed_on_{0};
};

void add_options(Options &options, Shape &shape) {
    const Range counts{1, 1 << 28};
    const Range sizes{1, 1 << 30};
    options.number("--blocks", shape.blocks, "of each thread", counts);
    options.number("--generation", shape.generation, "replacements before a successor takes over", counts);
    options.number("--min", shape.min, "bytes", sizes);
    options.number("--max", shape.max, "bytes", sizes);
    options.flag("--memset", shape.memset, "write each block whole");
    options.flag("--without-malloc", shape.without_malloc, "all the work but malloc and free");
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Memory memory;
    Workload larson("larson", "Larson and Krishnan's server: threads that leave their blocks to successors.",
                    {.threads = 1, .seconds = 30});
    add_options(larson.options(), shape);
    memory.add_options(larson.options());
    if (!larson.parse(argc, argv)) return larson.exit_code();
    if (shape.max < shape.min) {
        std::fprintf(stderr, "larson: --max is below --min\n");
        return 2;
    }
    memory.start(larson.settings());
    Random random(larson.settings().seed);
    std::deque<Lineage> lineages;
    for (std::size_t thread = 0; thread < larson.settings().threads; ++thread)
        lineages.emplace_back(shape, memory, random);
    larson.run([&](Worker &worker) { lineages[worker.index].run(worker); });

    std::uint64_t generations = 0;
    std::uint64_t peak_bytes = 0;
    for (Lineage &lineage : lineages) {
        lineage.end();
        generations += lineage.generations();
        peak_bytes += lineage.peak_bytes();
    }
    larson.note("generations", static_cast<double>(generations));
    larson.note("requested_peak_bytes", static_cast<double>(peak_bytes));
    memory.note(larson);
    return larson.report();
}
