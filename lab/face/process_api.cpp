// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the library's part in the process's life: start before main, fork; in the counted build, the counts at exit.
// Invariant: its fork handlers are the first that are registered.
// Must not know: which allocator, what locking does.
#include <cstring>

#include "base/config.hpp"
#include "base/text.hpp"
#include "face/process.hpp"
#include "granary/granary.h"
#include "parts/lfmalloc/transaction_counts.hpp"
#include "platform/events.hpp"
#include "platform/fork_handlers.hpp"
#include "platform/process.hpp"

namespace {

using gr::platform::Event;

using Fork = gr::platform::ForkHandlers<gr::lab::lock, gr::lab::unlock, gr::lab::unlock>;

gr::platform::KeptStderr report;

bool is_report_wanted() {
    if constexpr (!gr::kCounted) return false;
    const char *const wanted = gr::platform::variable("GRANARY_STATS");
    return wanted != nullptr && std::strcmp(wanted, "json") == 0;
}

[[gnu::constructor(101)]] void begin() {
    gr::lab::start();
    Fork::register_first();
    if (is_report_wanted()) report.keep();
}

[[gnu::destructor(101)]] void end() {
    if (!is_report_wanted()) return;
    gr::TextBuffer<512> line;
    line << "{\"refills\": " << gr::platform::counted(Event::refill)
         << ", \"locks\": " << gr::platform::counted(Event::lock)
         << ", \"global_locks\": " << gr::platform::counted(Event::global_lock)
         << ", \"waits\": " << gr::platform::counted(Event::wait)
         << ", \"atomic_operations\": " << gr::platform::counted(Event::atomic_operation)
         << ", \"system_calls\": " << gr::platform::counted(Event::system_call)
         << ", \"shared_superblocks\": " << gr::platform::counted(Event::shared_superblock)
         << ", \"shared_blocks\": " << gr::platform::counted(Event::shared_block)
         << ", \"aborted_sequences\": " << gr::platform::counted(Event::aborted_sequence)
         << ", \"interrupted_transactions\": " << gr::lab::transaction_counts.interrupted.load()
         << ", \"continued_transactions\": " << gr::lab::transaction_counts.continued.load() << "}\n";
    report.write_all(line.data(), line.size());
}

}  // namespace

extern "C" GR_EXPORT int __register_atfork(Fork::Handler prepare, Fork::Handler parent, Fork::Handler child,
                                           void *library) {
    return Fork::register_for(prepare, parent, child, library);
}
