// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: how does the rate of bare pairs of malloc and free grow with the threads?
//    Source: LFMalloc (sections 4.1 and 4.2) runs Lever and Boreham's linux-scalability with 1 to 256 threads;
//    of our papers only it names the program, and it says neither the size nor the count.
//    jemalloc (Evans) describes a program of the same authors as malloc-test, see there.
//    Chosen here: each thread frees every block as soon as it has it. Hoard's distribution suggests 8 bytes in
//    one place and 512 in another, and ten million iterations; we take 8, because malloc-test has 512, and a
//    hundred million of all threads together, since ten are over in a moment today. An operation is a pair.
// Invariant: every block is written, since a block that is not touched is of no use; verifies that it is unchanged when
//    it is freed; no two threads write the same.
// Must not know: which malloc it runs on.
#include <algorithm>

#include "workload.hpp"

namespace {

using namespace gr::bench;

// The end is looked for once in so many pairs, so that it costs nothing.
constexpr std::uint64_t kUnobserved = 256;

void work(std::size_t size, Worker &worker) {
    while (worker.more()) {
        const std::uint64_t count = std::min(kUnobserved, worker.left());
        for (std::uint64_t number = 0; number < count; ++number) {
            void *const block = allocate(size);
            auto *const word = static_cast<volatile std::uint64_t *>(block);
            const std::uint64_t mark = number * worker.threads + worker.index;
            *word = mark;
            if (*word != mark) fail("linux-scalability: block %p changed while it was held", block);
            std::free(block);
        }
        worker.did(count);
    }
}

}  // namespace

int main(int argc, char **argv) {
    std::size_t size = 8;
    Workload scalability("linux-scalability", "Lever and Boreham's linux-scalability: bare pairs of malloc and free.",
                         {.threads = 1, .operations = 100'000'000});
    scalability.options().number("--size", size, "bytes", {sizeof(std::uint64_t), 1 << 30});
    if (!scalability.parse(argc, argv)) return scalability.exit_code();
    scalability.run([&](Worker &worker) { work(size, worker); });
    scalability.note("requested_peak_bytes", static_cast<double>(scalability.settings().threads * size));
    return scalability.report();
}
