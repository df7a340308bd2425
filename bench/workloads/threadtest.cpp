// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: do threads that share nothing stay out of each other's way?
//    Source: Hoard, section 5.2, its own microbenchmark: t threads do nothing but repeatedly allocate and then
//    deallocate 100,000 / t objects of 8 bytes. The text is silent on how often; table 4 answers: 9,998,831
//    objects on 14 processors are 100 rounds of 14 * 7,142 (the division drops the rest), 8.04 bytes each. Its
//    "max in use" of 1,068,864 bytes is more than those 800,000 bytes: it includes what else the program held.
//    LFMalloc (4.1, 4.2) runs it with up to 256 threads and reports the footprint, but no parameters.
//    Chosen here: freed in the order of allocation, about which both are silent; 1,000 rounds by default,
//    since 100 are over in a moment today (--ops 10000000); malloc and free, as LFMalloc made of C++'s
//    operators. An operation is a pair.
// Invariant: verifies that an object still holds what its thread wrote when it is freed; no two threads write the same.
// Must not know: which malloc it runs on.
#include <algorithm>

#include "workload.hpp"

namespace {

using namespace gr::bench;

struct Shape {
    std::size_t objects = 100'000;  // of all threads together
    std::size_t size = 8;
};

std::uint64_t mark(const Worker &worker, std::uint64_t number) {
    return (worker.done() + number) * worker.threads + worker.index;
}

void work(const Shape &shape, Worker &worker) {
    std::vector<std::uint64_t *> held(shape.objects / worker.threads);
    while (worker.more()) {
        const std::uint64_t count = std::min<std::uint64_t>(held.size(), worker.left());
        for (std::uint64_t number = 0; number < count; ++number) {
            held[number] = static_cast<std::uint64_t *>(allocate(shape.size));
            *held[number] = mark(worker, number);
        }
        for (std::uint64_t number = 0; number < count; ++number) {
            if (*held[number] != mark(worker, number))
                fail("threadtest: object %p changed while it was held", static_cast<void *>(held[number]));
            std::free(held[number]);
        }
        worker.did(count);
    }
}

}  // namespace

int main(int argc, char **argv) {
    Shape shape;
    Workload threadtest("threadtest", "Hoard's threadtest: threads allocate and free small objects of their own.",
                        {.threads = 1, .operations = 100'000'000});
    threadtest.options().number("--objects", shape.objects, "held by all threads together", {1, 1 << 28});
    threadtest.options().number("--size", shape.size, "bytes", {sizeof(std::uint64_t), 1 << 30});
    if (!threadtest.parse(argc, argv)) return threadtest.exit_code();
    const std::size_t threads = threadtest.settings().threads;
    if (shape.objects < threads) {
        std::fprintf(stderr, "threadtest: --objects must be at least %zu, one for each thread\n", threads);
        return 2;
    }
    threadtest.run([&](Worker &worker) { work(shape, worker); });
    threadtest.note("requested_peak_bytes", static_cast<double>(shape.objects / threads * threads * shape.size));
    return threadtest.report();
}
