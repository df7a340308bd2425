// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the library's part in the process's life: start before main, fork; in the counted build, the counts at exit.
// Invariant: its fork handlers are the first that are registered, so that fork locks the allocator after, and frees it
//            before, everyone else's, which may allocate, or wait for a thread that does.
// Must not know: which allocator, what locking does.
#include <pthread.h>
#include <stdlib.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "base/config.hpp"
#include "base/text.hpp"
#include "face/process.hpp"
#include "granary/granary.h"
#include "platform/events.hpp"
#include "platform/loader.hpp"
#include "platform/process.hpp"
#include "platform/stdio_list.hpp"

namespace {

using gr::platform::Event;

using Handler = void (*)();
using Register = int (*)(Handler prepare, Handler parent, Handler child, void *library);

// Who flushes all streams may wait for one whose holder waits for malloc: libc's list of them is locked first.
void before_fork() {
    gr::platform::lock_stdio_list();
    gr::lab::lock();
}
void after_fork() {
    gr::lab::unlock(false);
    gr::platform::unlock_stdio_list();
}
void after_fork_in_child() {
    gr::lab::unlock(true);
    gr::platform::reset_stdio_list();
}

// Ordered by nothing: a library that registers handlers from another thread at start-up takes its chance.
std::atomic<bool> is_started{false};

// false: it was already.
bool start() {
    if (is_started.exchange(true)) return false;
    gr::lab::start();
    return true;
}

gr::platform::KeptStderr report;

bool is_report_wanted() {
    if constexpr (!gr::kCounted) return false;
    const char *const wanted = secure_getenv("GRANARY_STATS");
    return wanted != nullptr && std::strcmp(wanted, "json") == 0;
}

[[gnu::constructor(101)]] void begin() {
    if (start()) pthread_atfork(before_fork, after_fork, after_fork_in_child);
    if (is_report_wanted()) report.keep();
}

[[gnu::destructor(101)]] void end() {
    if (!is_report_wanted()) return;
    gr::TextBuffer<256> line;
    line << "{\"locks\": " << gr::platform::counted(Event::lock)
         << ", \"waits\": " << gr::platform::counted(Event::wait)
         << ", \"atomic_operations\": " << gr::platform::counted(Event::atomic_operation)
         << ", \"system_calls\": " << gr::platform::counted(Event::system_call) << "}\n";
    report.write_all(line.data(), line.size());
}

}  // namespace

// What pthread_atfork calls. The constructors of libraries that know nothing of this one run before its own.
extern "C" GR_EXPORT int __register_atfork(Handler prepare, Handler parent, Handler child, void *library) {
    const auto next = reinterpret_cast<Register>(gr::platform::next_symbol("__register_atfork"));
    if (next == nullptr) return ENOSYS;
    if (start()) next(before_fork, after_fork, after_fork_in_child, nullptr);
    return next(prepare, parent, child, library);
}
