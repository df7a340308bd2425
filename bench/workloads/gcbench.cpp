// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what do malloc and free cost a single thread that builds and drops binary trees of one small
//    node all the time, which favours collectors most?
//    Source: GCBench, of which MT_GCBench in Boehm's paper consists, with explicit free or, by --keep, without;
//    see gcbench_trees.hpp. An operation is one iteration, some 15 million nodes. More threads than one are so
//    many copies.
// Invariant: verifies what gcbench_trees.hpp says.
// Must not know: which malloc it runs on.
#include "gcbench_trees.hpp"

int main(int argc, char **argv) {
    return gr::bench::run_gcbench("gcbench", "GCBench with explicit free: binary trees built and dropped.",
                                  {.threads = 1, .operations = 1}, argc, argv);
}
