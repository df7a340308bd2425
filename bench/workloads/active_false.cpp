// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: does malloc give pieces of one cache line to two threads (active false sharing)?
//    Source: Hoard, section 5.3, which gives no numbers; those of Wasik's thesis, section 6.2.3: each thread
//    allocates a block of 8 bytes, writes on it 10,000 times and frees it, 100,000 times in all, divided
//    among the threads. A write is an increment here, and threads are pinned if there are CPUs enough. Besides,
//    shared_lines is the number of cache lines with live blocks of two threads, the mean of what the first
//    thread saw at one of 16 turns or fewer. An operation is one block's life.
// Invariant: verifies that a block's word counted all writes of its thread and no other's.
// Must not know: which malloc it runs on.
#include "false_sharing.hpp"

int main(int argc, char **argv) {
    using namespace gr::bench;
    Workload active("active-false", "Hoard's active-false: each thread writes often on one small block after another.",
                    {.threads = 2, .operations = 100'000});
    FalseSharing sharing(active);
    if (!active.parse(argc, argv)) return active.exit_code();
    return sharing.run([](Worker &) {});
}
