// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do many small sizes, freed in random order, cost in time and in memory?
//    Source: Hoard describes MicroQuill's shbench twice. Section 5.2 (and table 1): each thread repeatedly
//    allocates and frees randomly-sized blocks in random order, 50 million blocks in total. Section 5.4: sizes
//    are random from 8 to 100, and many objects stay live: 470K of at most 550K are left at the end. This is
//    the described behaviour written anew, not that program.
//    Contradictions: table 4 counts 12.5 million objects, not 50, of 132.00 bytes on average, which sizes from
//    8 to 100 cannot give. Section 5.4 speaks of 550K objects, but table 4 has 556,112 bytes in use, and
//    section 5.1 says that shbench allocates very little memory.
//    Followed here: section 5.2 for the work (50 million blocks) and section 5.4 for the sizes, uniform, and
//    for what lives, read as bytes: all threads together hold 8,700 blocks (470K) and take turns of allocating
//    1,500 more and freeing as many, each time any one of those they hold; so at most 550K are live and 470K
//    are left, scattered at random. Silent: how that is divided; here equally among the threads. What is left
//    is freed at the end. An operation is a pair.
// Invariant: the first and the last byte of every block are written; verifies that they are unchanged when it is freed.
// Must not know: which malloc it runs on.
#include <algorithm>

#include "workload.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    std::size_t kept = 8'700;  // of all threads together, as the next
    std::size_t turn = 1'500;
    std::size_t min = 8;
    std::size_t max = 100;
};

struct Block {
    unsigned char *bytes;
    std::uint32_t size;
    unsigned char mark;
};

// The live blocks of one thread.
class Blocks {
  public:
    explicit Blocks(std::size_t most) { held_.reserve(most); }

    void add(std::size_t size, unsigned char mark) {
        auto *const bytes = static_cast<unsigned char *>(allocate(size));
        bytes[0] = bytes[size - 1] = mark;
        held_.push_back({bytes, static_cast<std::uint32_t>(size), mark});
        live_bytes_ += size;
        peak_bytes_ = std::max(peak_bytes_, live_bytes_);
    }
    void remove(std::size_t place) {
        const Block block = held_[place];
        if (block.bytes[0] != block.mark || block.bytes[block.size - 1] != block.mark)
            fail("shbench: block %p changed while it was held", static_cast<void *>(block.bytes));
        std::free(block.bytes);
        held_[place] = held_.back();
        held_.pop_back();
        live_bytes_ -= block.size;
    }
    std::size_t count() const { return held_.size(); }
    std::uint64_t peak_bytes() const { return peak_bytes_; }

  private:
    std::vector<Block> held_;
    std::uint64_t live_bytes_ = 0;
    std::uint64_t peak_bytes_ = 0;
};

std::uint64_t work(const Shape &shape, Worker &worker) {
    const std::size_t kept = std::max<std::size_t>(shape.kept / worker.threads, 1);
    const std::size_t turn = std::max<std::size_t>(shape.turn / worker.threads, 1);
    Random &random = worker.random;
    Blocks blocks(kept + turn);
    const auto add = [&] {
        blocks.add(random.between(shape.min, shape.max), static_cast<unsigned char>(random.next()));
    };

    while (blocks.count() < kept) add();
    while (worker.more()) {
        const std::uint64_t count = std::min<std::uint64_t>(turn, worker.left());
        for (std::uint64_t number = 0; number < count; ++number) add();
        for (std::uint64_t number = 0; number < count; ++number) blocks.remove(random.below(blocks.count()));
        worker.did(count);
    }
    while (blocks.count() > 0) blocks.remove(random.below(blocks.count()));
    return blocks.peak_bytes();
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload shbench("shbench", "shbench as Hoard describes it: random sizes, freed in random order.",
                     {.threads = 1, .operations = 50'000'000});
    Options &options = shbench.options();
    const Range counts{1, 1 << 28};
    const Range sizes{1, 1 << 30};
    options.number("--kept", shape.kept, "blocks always live", counts);
    options.number("--turn", shape.turn, "blocks allocated, then freed", counts);
    options.number("--min", shape.min, "bytes", sizes);
    options.number("--max", shape.max, "bytes", sizes);
    if (!shbench.parse(argc, argv)) return shbench.exit_code();
    if (shape.max < shape.min) {
        std::fprintf(stderr, "shbench: --max is below --min\n");
        return 2;
    }
    std::atomic<std::uint64_t> peak_bytes = 0;
    shbench.run([&](Worker &worker) { peak_bytes += work(shape, worker); });
    shbench.note("requested_peak_bytes", static_cast<double>(peak_bytes.load()));
    return shbench.report();
}
