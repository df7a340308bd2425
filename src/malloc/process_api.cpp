// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the library's part in the process's life: start before main, fork, the statistics at exit.
// Invariant: its fork handlers are the first that are registered, so that fork locks the heap after, and frees it before,
//            everyone else's, which may allocate, or wait for a thread that does.
// Must not know: what start and locking do.
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/printable.hpp"
#include "malloc/background.hpp"
#include "malloc/c_api.hpp"
#include "malloc/instances.hpp"
#include "malloc/sampled.hpp"
#include "malloc/statistics.hpp"
#include "platform/loader.hpp"
#include "platform/process.hpp"
#include "platform/stdio_list.hpp"

namespace {

gr::platform::KeptStderr report;

// Written at once, so that what other processes write to the same pipe or file does not come between its lines.
using Report = gr::TextBuffer<4 * gr::kKiB>;

void put_report(void *text, const gr::Text &line) {
    for (std::size_t i = 0; i < line.size(); ++i) *static_cast<Report *>(text) << line.data()[i];
}

void before_fork() {
    gr::platform::lock_stdio_list();
    if (gr::sampled.is_on()) gr::sampled.profile().lock();
    gr::instances.lock_all();
}
void unlock_heaps() {
    gr::instances.unlock_all();
    if (gr::sampled.is_on()) gr::sampled.profile().unlock();
}
void after_fork() {
    unlock_heaps();
    gr::platform::unlock_stdio_list();
}
void after_fork_in_child() {
    unlock_heaps();
    gr::platform::reset_stdio_list();
    gr::instances.forget_other_threads();
    if (gr::instance.options().background != 0) gr::background.expect();
}

// Ordered by nothing: a library that registers handlers from another thread at start-up takes its chance.
std::atomic<bool> are_registered{false};

using Handler = void (*)();
using Register = int (*)(Handler prepare, Handler parent, Handler child, void *library);

[[gnu::constructor(101)]] void begin() {
    gr::instance.ensure_started();
    if (gr::instance.options().stats != 0) report.keep();
    if (!are_registered.exchange(true)) pthread_atfork(before_fork, after_fork, after_fork_in_child);
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

// What pthread_atfork calls. The constructors of libraries that know nothing of this one run before its own. In a static
// program libc's takes its place.
extern "C" [[gnu::weak]] GR_EXPORT int __register_atfork(Handler prepare, Handler parent, Handler child,
                                                         void *library) {
    const auto next = reinterpret_cast<Register>(gr::platform::next_symbol("__register_atfork"));
    if (next == nullptr) return ENOSYS;
    if (!are_registered.exchange(true)) next(before_fork, after_fork, after_fork_in_child, nullptr);
    return next(prepare, parent, child, library);
}
