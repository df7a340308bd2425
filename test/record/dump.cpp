// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: prints a trace's events as the reader in C++ sees them: a line each, in the order of their blocks.
// Invariant: the lines are those that the tests make of what the reader in Python sees.
// Must not know: who compares.
#include <fmt/format.h>

#include <cstdio>

#include "base/failure.hpp"
#include "reading/trace/reader.hpp"

int main(int count, char **words) {
    if (count != 2) return 2;
    try {
        const gr::trace::Trace trace(words[1]);
        gr::trace::BlockReader reader;
        gr::trace::Event event;
        for (const gr::trace::EventBlock &block : trace.blocks()) {
            reader.begin(block);
            while (reader.next(&event)) {
                fmt::print("{} {} {} {} {} {} {} {}\n", event.time.units, number_of(event.thread), number_of(event.op),
                           event.address, event.size, event.log2_alignment, number_of(event.stack), event.nanoseconds);
            }
        }
        for (const gr::trace::StackNode &node : trace.stacks())
            fmt::print("{} {}\n", number_of(node.parent), node.address);
        fmt::print("{} {} {}\n", trace.samples().size(), trace.threads().size(), trace.damage().empty());
    } catch (const gr::tool::Failure &failure) {
        fmt::print("{}\n", failure.what());
        return 1;
    }
    return 0;
}
