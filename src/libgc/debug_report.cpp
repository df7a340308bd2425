// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/debug_report.hpp"

#include "libgc/messages.hpp"
#include "libgc/standard_kinds.hpp"

namespace gr {
namespace {

constinit std::atomic<bool> are_looked_for{false};  // ordered by nothing

void check(const BlockAt &block, bool marked) {
    if (!marked && block.kind->setup.zeroed) return;
    DebugHeader *const header = DebugHeader::of(block);
    if (header == nullptr || header->is_freed(header)) return;
    if (!marked) {
        // The block's next object may leave the words of this header as they are, because this kind is not zeroed.
        *header = {};
    } else if (!header->end_is_whole()) {
        complain("GC_check_heap", DebugHeader::user_data(header), "was overwritten behind its end", header);
    }
}

}  // namespace

void complain(const char *function, const void *p, const char *what, const DebugHeader *header) {
    TextBuffer<512> line;
    line << function << ": " << p << ' ' << what;
    if (header != nullptr)
        line << " (" << header->size << " bytes, allocated at " << header->file << ':' << header->line << ')';
    line << '\n';
    write_line(messages.errors, line);
}

void look_for_overwritten() { are_looked_for.store(true, std::memory_order_relaxed); }

void report_overwritten() {
    if (!are_looked_for.load(std::memory_order_relaxed)) return;
    for (unsigned kind = 0; kind < kStandardKinds; ++kind) collector.for_each_block(*collector.kind(kind), check);
}

}  // namespace gr
