// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/performance.hpp"

#include "collector/collector.hpp"
#include "libgc/functions.hpp"
#include "libgc/messages.hpp"
#include "libgc/settings.hpp"

namespace gr {
namespace {

constinit std::atomic<bool> is_measured{false};       // ordered by nothing
constinit std::atomic<std::uint64_t> nanoseconds{0};  // ordered by nothing

}  // namespace

void begin_to_measure() { is_measured.store(true, std::memory_order_relaxed); }
unsigned long measured_milliseconds() {
    return nanoseconds.load(std::memory_order_relaxed) / kNanosecondsPerMillisecond;
}

void log_collection() {
    const CollectionReport &report = collector.last();
    if (is_measured.load(std::memory_order_relaxed))
        nanoseconds.fetch_add(report.stopped_nanoseconds, std::memory_order_relaxed);
    if (messages.verbosity != Verbosity::silent) {
        TextBuffer<256> line;
        line << "GC #" << report.number << ": " << report.live_bytes / kKiB << " KiB in " << report.live_blocks
             << " objects live, " << report.freed_blocks << " objects freed, stopped for "
             << report.stopped_nanoseconds / 1000 << " us\n";
        write_line(messages.log, line);
    }
    if (settings.prints_regularly) GC_dump_named(nullptr);
}

}  // namespace gr
