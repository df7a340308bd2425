// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/find_leak.hpp"

#include <stdlib.h>

#include "libgc/debug_header.hpp"
#include "libgc/messages.hpp"
#include "libgc/standard_kinds.hpp"

namespace gr {
namespace {

constinit bool are_looked_for = false;

void report(const BlockAt &block) {
    TextBuffer<512> line;
    const bool is_atomic = block.kind->setup.descriptor.is_nothing() && !block.kind->setup.adds_size;
    line << "leaked" << (is_atomic ? " pointer-free" : "") << " object at ";
    if (const DebugHeader *const header = DebugHeader::of(block)) {
        line << static_cast<const void *>(DebugHeader::user_data(block.begin)) << ", " << header->size
             << " bytes, allocated at " << header->file << ':' << header->line << '\n';
    } else {
        line << static_cast<const void *>(block.begin) << ", about " << block.bytes << " bytes\n";
    }
    write_line(messages.errors, line);
}

}  // namespace

void begin_to_look_for_leaks() {
    are_looked_for = true;
    collector.tell_dead(kAtomic);
    collector.tell_dead(kNormal);
}

void report_leaks() {
    if (!are_looked_for) return;
    bool any = false;
    for (const unsigned kind : {kAtomic, kNormal}) {
        collector.for_each_block(*collector.kind(kind), [&](const BlockAt &block, bool marked) {
            if (marked) return;
            any = true;
            const DebugHeader *const header = DebugHeader::of(block);
            if (header == nullptr || !header->is_freed(block.begin)) report(block);
        });
    }
    // NOLINTNEXTLINE(concurrency-mt-unsafe): no other thread runs
    if (any && getenv("GC_ABORT_ON_LEAK") != nullptr) die("leaked objects were found, and GC_ABORT_ON_LEAK is set");
}

}  // namespace gr
