// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the library's part in the process's life: start before main, fork, the statistics at exit.
// Invariant: its fork handlers are the first that are registered.
// Must not know: what start and locking do.
#include "instance/background.hpp"
#include "instance/instances.hpp"
#include "instance/option_effects.hpp"
#include "instance/statistics_text.hpp"
#include "malloc/c_api.hpp"
#include "malloc/sampled.hpp"
#include "platform/fork_handlers.hpp"
#include "platform/process.hpp"

namespace {

// As much as fits is written in one call, so that the output of other processes to the same pipe or file does not come
// between its lines. Text and JSON fit.
constexpr std::size_t kReportBytes = 4 * gr::kKiB;
using Report = gr::TextBuffer<kReportBytes>;

void write_report(Report *text) {
    gr::statistics_output.write_all(text->data(), text->size());
    text->clear();
}

void put_report(void *text, const gr::Text &line) {
    Report &to = *static_cast<Report *>(text);
    if (to.size() + line.size() > kReportBytes) write_report(&to);
    to << std::string_view(line.data(), line.size());
}

gr::StatisticsFormat format_of(gr::StatisticsMode mode) {
    if (mode == gr::StatisticsMode::prometheus) return gr::StatisticsFormat::prometheus;
    return mode == gr::StatisticsMode::json ? gr::StatisticsFormat::json : gr::StatisticsFormat::text;
}

void lock_heaps() {
    gr::sampled.lock();
    gr::instances.lock_all();
}
void unlock_heaps() {
    gr::instances.unlock_all();
    gr::sampled.unlock();
}
void unlock_heaps_in_child() {
    unlock_heaps();
    gr::instances.forget_other_threads();
    gr::background.begin_in_child();
}

using Fork = gr::platform::ForkHandlers<lock_heaps, unlock_heaps, unlock_heaps_in_child>;

[[gnu::constructor(101)]] void begin() {
    gr::instance.ensure_started();
    if (gr::instance.options().stats != 0) gr::statistics_output.keep();
    gr::tell_unread_options();
    Fork::register_first();
    gr::background.begin();
}

// Only reports the last numbers. The heap stays usable afterwards.
[[gnu::destructor(101)]] void end() {
    gr::background.end_of_process();
    const auto mode = static_cast<gr::StatisticsMode>(gr::load_option(gr::instance.options().stats));
    if (mode == gr::StatisticsMode::off) return;
    const gr::OwnOrigin origin;
    Report text;
    // Without size classes, because one write has no room for them.
    gr::print_statistics(gr::instance, gr::Classes::no, format_of(mode), put_report, &text, origin.get());
    write_report(&text);
}

}  // namespace

// In a static program libc's function takes the place of this one.
extern "C" [[gnu::weak]] GR_EXPORT int __register_atfork(Fork::Handler prepare, Fork::Handler parent,
                                                         Fork::Handler child, void *library) {
    return Fork::register_for(prepare, parent, child, library);
}
