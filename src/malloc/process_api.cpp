// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the library's part in the process's life: start before main, fork, the statistics at exit.
// Invariant: its fork handlers are the first that are registered.
// Must not know: what start and locking do.
#include <cstring>

#include "base/printable.hpp"
#include "malloc/background.hpp"
#include "malloc/c_api.hpp"
#include "malloc/instances.hpp"
#include "malloc/sampled.hpp"
#include "malloc/statistics.hpp"
#include "platform/fork_handlers.hpp"
#include "platform/process.hpp"

namespace {

gr::platform::KeptStderr report;

// Written at once, so that what other processes write to the same pipe or file does not come between its lines.
using Report = gr::TextBuffer<4 * gr::kKiB>;

void put_report(void *text, const gr::Text &line) {
    *static_cast<Report *>(text) << std::string_view(line.data(), line.size());
}

void lock_heaps() {
    if (gr::sampled.is_on()) gr::sampled.profile().lock();
    gr::instances.lock_all();
}
void unlock_heaps() {
    gr::instances.unlock_all();
    if (gr::sampled.is_on()) gr::sampled.profile().unlock();
}
void unlock_heaps_in_child() {
    unlock_heaps();
    gr::instances.forget_other_threads();
    if (gr::instance.options().background != 0) gr::background.expect();
}

using Fork = gr::platform::ForkHandlers<lock_heaps, unlock_heaps, unlock_heaps_in_child>;

[[gnu::constructor(101)]] void begin() {
    gr::instance.ensure_started();
    if (gr::instance.options().stats != 0) report.keep();
    Fork::register_first();
    if (gr::instance.options().background != 0) gr::background.expect();
}

// The heap stays usable afterwards; only its last numbers are told.
[[gnu::destructor(101)]] void end() {
    const auto mode = static_cast<gr::StatisticsMode>(gr::instance.options().stats);
    if (mode == gr::StatisticsMode::off) return;
    const auto format = mode == gr::StatisticsMode::json ? gr::StatisticsFormat::json : gr::StatisticsFormat::text;
    char command[gr::kCommandBytes];
    gr::platform::command_line(&command[0], sizeof command);
    gr::make_printable(&command[0], std::strlen(&command[0]));
    const gr::Origin origin{gr::platform::process_id(), &command[0]};
    Report text;
    gr::print_statistics(gr::snapshot(gr::instance), format, put_report, &text, &origin);
    report.write_all(text.data(), text.size());
}

}  // namespace

// In a static program libc's takes its place.
extern "C" [[gnu::weak]] GR_EXPORT int __register_atfork(Fork::Handler prepare, Fork::Handler parent,
                                                         Fork::Handler child, void *library) {
    return Fork::register_for(prepare, parent, child, library);
}
