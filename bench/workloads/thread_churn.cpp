// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do threads that come and go cost, and does memory stay flat when they leave blocks
//    behind?
//    Source: our own, beyond the papers (Larson's threads have successors, too, but live long). Each of
//    --threads starts one short thread after the other and waits for its end. A short thread allocates 1,000
//    blocks of 16 to 511 bytes, each doubling as likely as the next, frees the 100 that its predecessor left,
//    then 900 of its own in random order, and leaves the others to its successor. An operation is a short
//    thread's life.
// Invariant: verifies that a block still carries its stamp when it is freed, by whichever thread.
// Must not know: which malloc it runs on.
#include <algorithm>

#include "blocks.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kSmallest = 16;
constexpr unsigned kDoublings = 5;

struct Shape {
    std::size_t blocks = 1000;
    std::size_t left = 100;
};

// The short threads of one worker, one after the other.
class Lineage {
  public:
    Lineage(const Shape &shape, Random &random) : random_(random), own_(shape.blocks), left_(shape.left) {}
    ~Lineage() { free_all(left_); }
    Lineage(const Lineage &) = delete;
    Lineage &operator=(const Lineage &) = delete;

    void live() {
        std::uint64_t bytes = left_bytes_;
        for (Block &block : own_) {
            block = allocate_stamped(random_, drawn_size(random_, kSmallest, kDoublings));
            bytes += block.size;
        }
        peak_ = std::max(peak_, bytes);
        free_all(left_);
        shuffle(random_, own_);
        const std::span freed = std::span(own_).first(own_.size() - left_.size());
        free_all(freed);
        std::copy(own_.begin() + static_cast<std::ptrdiff_t>(freed.size()), own_.end(), left_.begin());
        left_bytes_ = 0;
        for (const Block &block : left_) left_bytes_ += block.size;
    }
    std::uint64_t peak() const { return peak_; }

  private:
    static void free_all(std::span<const Block> blocks) {
        for (const Block &block : blocks)
            if (block.words != nullptr) free_stamped(block, "thread-churn");
    }

    Random &random_;
    std::vector<Block> own_;
    std::vector<Block> left_;  // by the last one; before the first, nothing
    std::uint64_t left_bytes_ = 0;
    std::uint64_t peak_ = 0;  // of requested bytes
};

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload churn("thread-churn", "Short threads that leave some blocks to their successors.",
                   {.threads = 4, .seconds = 5});
    churn.options().number("--blocks", shape.blocks, "a short thread allocates", {1, 1 << 20});
    churn.options().number("--left", shape.left, "of them to its successor", {0, 1 << 20});
    if (!churn.parse(argc, argv)) return churn.exit_code();
    if (shape.left > shape.blocks) return std::fputs("thread-churn: --left is more than --blocks\n", stderr), 2;

    std::atomic<std::uint64_t> peaks = 0;
    churn.run([&](Worker &worker) {
        Lineage lineage(shape, worker.random);
        for (; worker.more(); worker.did(1)) std::thread([&] { lineage.live(); }).join();
        peaks += lineage.peak();
    });
    churn.note("requested_peak_bytes", static_cast<double>(peaks));
    return churn.report();
}
