// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do large and huge blocks cost that grow by steps, and what do they leave unused?
//    Source: our own, beyond the papers. Each thread has 4 places and takes one at random in each turn: an
//    empty place gets a block and a size that it shall reach; a block below that grows to between 1.25 and 2
//    times its size; one that has reached it is freed. Both sizes are drawn from 32 KiB to 64 MiB, each
//    doubling as likely as the next; so about half of the blocks never grow. A word of each 4 KiB is written.
//    An operation is a malloc, a realloc or a free.
// Invariant: verifies after each growth the first and the last word that were written before, and all of them before
//    the free. The peak of requested bytes is the sum of the threads' own peaks.
// Must not know: which malloc it runs on.
#include <algorithm>

#include "blocks.hpp"

namespace {

using namespace gr::bench;

constexpr std::size_t kSmallest = std::size_t{32} << 10;
constexpr unsigned kDoublings = 11;
constexpr std::size_t kStride = 4096;  // from one written word to the next

// One place and the block in it.
class Place {
  public:
    Place() = default;
    ~Place() { empty(); }
    Place(const Place &) = delete;
    Place &operator=(const Place &) = delete;

    void turn(Random &random) {
        if (block_ == nullptr)
            fill(random);
        else if (size_ < goal_)
            grow(random);
        else
            empty();
    }
    std::size_t size() const { return size_; }

  private:
    void fill(Random &random) {
        size_ = drawn_size(random, kSmallest, kDoublings);
        goal_ = drawn_size(random, kSmallest, kDoublings);
        stamp_ = random.next();
        block_ = static_cast<unsigned char *>(allocate(size_));
        write(0);
    }

    void grow(Random &random) {
        const std::size_t before = strides();
        size_ = std::min(goal_, size_ / 100 * random.between(125, 200));
        block_ = static_cast<unsigned char *>(std::realloc(block_, size_));
        if (block_ == nullptr) fail("realloc to %zu: out of memory", size_);
        verify(0);
        verify(before - 1);
        write(before);
    }

    void empty() {
        for (std::size_t stride = 0; stride < strides(); ++stride) verify(stride);
        std::free(block_);
        block_ = nullptr;
        size_ = 0;
    }

    std::size_t strides() const { return size_ / kStride; }
    std::uint64_t &word(std::size_t stride) const {
        return *reinterpret_cast<std::uint64_t *>(block_ + stride * kStride);
    }
    void write(std::size_t from) const {
        for (std::size_t stride = from; stride < strides(); ++stride) word(stride) = stamp_ + stride;
    }
    void verify(std::size_t stride) const {
        if (word(stride) != stamp_ + stride)
            fail("huge-realloc: block %p of %zu bytes changed at %zu", static_cast<void *>(block_), size_,
                 stride * kStride);
    }

    unsigned char *block_ = nullptr;
    std::size_t size_ = 0;
    std::size_t goal_ = 0;
    std::uint64_t stamp_ = 0;
};

}  // namespace

int main(int argc, char **argv) {
    std::size_t places = 4;
    Workload workload("huge-realloc", "Large and huge blocks that grow by realloc.", {.threads = 2, .seconds = 5});
    workload.options().number("--places", places, "for blocks of a thread", {1, 1 << 20});
    if (!workload.parse(argc, argv)) return workload.exit_code();

    std::atomic<std::uint64_t> peaks = 0;
    workload.run([&](Worker &worker) {
        std::vector<Place> held(places);
        std::uint64_t live = 0, peak = 0;
        for (; worker.more(); worker.did(1)) {
            Place &place = held[worker.random.below(places)];
            live -= place.size();
            place.turn(worker.random);
            live += place.size();
            peak = std::max(peak, live);
        }
        peaks += peak;
    });
    workload.note("requested_peak_bytes", static_cast<double>(peaks));
    return workload.report();
}
