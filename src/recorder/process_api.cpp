// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the recorder's part in the process's life, and what it tells of threads and of the program's phases.
// Invariant: whoever ends the process without destructors leaves, too. What is interposed does what libc's does.
// Must not know: how calls are recorded.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "granary/granary.h"
#include "platform/loader.hpp"
#include "platform/process.hpp"
#include "platform/syscall.hpp"
#include "recorder/calls.hpp"
#include "recorder/unloading.hpp"

namespace {

using gr::Kind;

void tell(Kind kind, const char *text) {
    if (!gr::next.is_found()) return;
    gr::Call call(nullptr);
    if (!call.is_recorded()) return;
    gr::Group group;
    group.add_text(kind, text, gr::recording.now());
    call.write(group);
}

// Arrives, although nothing was allocated yet. In a process that ran before, the library waits for gr_record_attach().
[[gnu::constructor]] void arrive() {
    if (gr::platform::variable(GR_RECORDING_PATH) != nullptr && gr::next.is_found()) gr::Call call(nullptr);
}

[[gnu::destructor]] void leave() { gr::attachment.leave(); }

[[noreturn]] void end_now(int status) {
    gr::attachment.leave();
    for (;;) gr::platform::system_call(SYS_exit_group, status);
}

template <class Function>
Function *libcs(const char *name) {
    return reinterpret_cast<Function *>(gr::platform::next_symbol(name));
}

}  // namespace

extern "C" {

GR_EXPORT void _exit(int status) { end_now(status); }
GR_EXPORT void _Exit(int status) noexcept { end_now(status); }
GR_EXPORT void quick_exit(int status) noexcept {
    gr::attachment.leave();
    if (auto *const exits = libcs<void(int)>("quick_exit")) exits(status);
    end_now(status);
}

GR_EXPORT int pthread_setname_np(pthread_t thread, const char *name) noexcept {
    auto *const sets = libcs<int(pthread_t, const char *)>("pthread_setname_np");
    const int error = sets == nullptr ? ENOSYS : sets(thread, name);
    if (error == 0 && pthread_equal(thread, pthread_self()) != 0) tell(Kind::name, name);
    return error;
}

GR_EXPORT int dlclose(void *library) noexcept {
    auto *const closes = libcs<int(void *)>("dlclose");
    if (closes == nullptr) return -1;
    gr::unloading.begin();
    const int result = closes(library);
    gr::unloading.end();
    return result;
}

// Of mark.h. NOLINTNEXTLINE(misc-use-internal-linkage)
GR_EXPORT void gr_record_mark(const char *text) { tell(Kind::mark, text); }

}  // extern "C"
