// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: waves of threads that allocate and exit; one thread, which allocates none of these blocks, frees all.
// Invariant: while one wave is freed the next allocates, at one pace, and every wave makes the same blocks: so memory
//    must be flat, whichever of them the kernel favours.
// Must not know: which heap owns the memory of a thread that is gone.
#include <thread>
#include <utility>
#include <vector>

#include "options.hpp"
#include "parcel.hpp"
#include "rss.hpp"
#include "semaphore.hpp"

using namespace gr::test;

namespace {

constexpr size_t kBlocks = 1500;
constexpr size_t kBatch = 20;
static_assert(kBlocks % kBatch == 0, "a wave is made of whole batches");
using Wave = std::vector<std::vector<Parcel *>>;

// Keeps what was allocated at most kLead batches ahead of what was freed, and never behind.
class Pace {
  public:
    void before_allocation() { lead_.acquire(); }
    void after_allocation() { made_.release(); }
    void before_free() { made_.acquire(); }
    void after_free() { lead_.release(); }

  private:
    static constexpr unsigned kLead = 50;

    Semaphore lead_{kLead};
    Semaphore made_{0};
};

void fill(std::vector<Parcel *> &blocks, const Spread &spread, size_t number, Pace &pace) {
    spread.bind_me(number);
    Random random(number + 1);
    for (size_t begin = 0; begin < kBlocks; begin += kBatch) {
        pace.before_allocation();
        for (size_t i = begin; i < begin + kBatch; ++i) blocks[i] = make_parcel(random);
        pace.after_allocation();
    }
}

// Allocates a new wave in short-lived threads while the old one is freed here.
void turn_over(Wave &allocated, Wave &freed, const Spread &spread) {
    Pace pace;
    std::vector<std::thread> threads;
    for (size_t number = 0; number < allocated.size(); ++number)
        threads.emplace_back(fill, std::ref(allocated[number]), std::cref(spread), number, std::ref(pace));
    for (std::vector<Parcel *> &blocks : freed)
        for (size_t begin = 0; begin < kBlocks; begin += kBatch) {
            pace.before_free();
            for (size_t i = begin; i < begin + kBatch; ++i)
                if (blocks[i] != nullptr) free_parcel(std::exchange(blocks[i], nullptr));
            pace.after_free();
        }
    for (std::thread &thread : threads) thread.join();
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    Options options = {.steps = 2400, .threads = 8};
    int status = 0;
    if (!options.parse("Threads allocate and exit, one frees.", argc, argv, status)) return status;
    Wave even(options.threads, std::vector<Parcel *>(kBlocks));
    Wave odd = even;
    const Spread spread;
    Run run(options.steps, options.seconds);
    run.each([&] {
        turn_over(even, odd, spread);
        std::swap(even, odd);
    });
    run.require_flat("threads that allocate and exit");
    return 0;
}
