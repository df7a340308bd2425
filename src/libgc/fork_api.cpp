// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's functions around fork, for clients that do not let the library install handlers.
// Invariant: while handlers are installed, these functions do nothing.
// Must not know: what is locked.
#include "libgc/allocation.hpp"
#include "libgc/settings.hpp"
#include "libgc/threads.hpp"

extern "C" {

GR_EXPORT void GC_set_handle_fork(int how) {
    if (!gr::is_initialised()) gr::settings.handles_fork = how;
}

GR_EXPORT void GC_atfork_prepare() {
    gr::ensure_initialised();
    if (gr::settings.handles_fork == 0) gr::lock_for_fork();
}
GR_EXPORT void GC_atfork_parent() {
    if (gr::settings.handles_fork == 0) gr::unlock_after_fork();
}
GR_EXPORT void GC_atfork_child() {
    if (gr::settings.handles_fork == 0) gr::unlock_in_child_and_forget();
}

}  // extern "C"
