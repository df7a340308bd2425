// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: does the throughput of small nodes grow with the threads, when each builds and drops trees of
//    its own and nothing is shared but the allocator?
//    Source: Boehm, "Fast multiprocessor memory allocation and garbage collection", MT_GCBench: concurrent
//    copies of GCBench, one for each of up to four processors, in iterations per minute, with explicit free or,
//    by --keep, without; see gcbench_trees.hpp. An operation is one iteration in one thread, some 15 million
//    nodes; when the time is up the iterations that run are finished.
// Invariant: verifies what gcbench_trees.hpp says.
// Must not know: which malloc it runs on.
#include "gcbench_trees.hpp"

int main(int argc, char **argv) {
    return gr::bench::run_gcbench("mt-gcbench", "MT_GCBench with explicit free: binary trees in every thread.",
                                  {.threads = 4, .seconds = 10}, argc, argv);
}
