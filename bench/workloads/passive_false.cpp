// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: does free let threads take again pieces of one cache line that a program had spread over them
//    (passive false sharing), or malloc by itself do so?
//    Source: Hoard, section 5.3, and Wasik's thesis, section 6.2.3: as active-false, but the main thread has
//    allocated a small block for each thread, which the thread frees first. Hoard has these blocks allocated
//    together, as done here; the thesis has one allocated whenever a thread is created.
// Invariant: verifies that a block handed to a thread still holds what the main thread wrote, and what active-false
//    does.
// Must not know: which malloc it runs on.
#include "false_sharing.hpp"

int main(int argc, char **argv) {
    using namespace gr::bench;
    Workload passive("passive-false",
                     "Hoard's passive-false: as active-false, after freeing a block of the main thread.",
                     {.threads = 2, .operations = 100'000});
    FalseSharing sharing(passive);
    if (!passive.parse(argc, argv)) return passive.exit_code();

    std::vector<std::uint64_t *> gifts(passive.settings().threads);
    for (std::size_t thread = 0; thread < gifts.size(); ++thread) {
        gifts[thread] = static_cast<std::uint64_t *>(allocate(sharing.size()));
        *gifts[thread] = thread;
    }
    return sharing.run([&](Worker &worker) {
        std::uint64_t *const gift = gifts[worker.index];
        if (*gift != worker.index) fail("passive-false: block %p changed on its way", static_cast<void *>(gift));
        std::free(gift);
    });
}
