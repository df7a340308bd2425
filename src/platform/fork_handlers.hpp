// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a malloc's handlers of fork.
// Invariant: they are the first that are registered, so that fork locks the malloc after, and frees it before, everyone
//    else's, which may allocate, or wait for a thread that does. The C library's list of streams is locked first.
// Must not know: what the malloc locks.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "platform/loader.hpp"
#include "platform/stdio_list.hpp"

namespace gr::platform {

// One for each library.
template <void (*kLock)(), void (*kUnlock)(), void (*kUnlockInChild)()>
class ForkHandlers {
  public:
    using Handler = void (*)();

    static void register_first() {
        if (!are_registered.exchange(true)) pthread_atfork(before, after, after_in_child);
    }
    // What the library's own __register_atfork does, which pthread_atfork calls. The constructors of libraries that know
    // nothing of this one run before its own.
    static int register_for(Handler prepare, Handler parent, Handler child, void *library) {
        using Register = int (*)(Handler prepare, Handler parent, Handler child, void *library);
        const auto next = reinterpret_cast<Register>(next_symbol("__register_atfork"));
        if (next == nullptr) return ENOSYS;
        if (!are_registered.exchange(true)) next(before, after, after_in_child, nullptr);
        return next(prepare, parent, child, library);
    }

  private:
    static void before() {
        lock_stdio_list();
        kLock();
    }
    static void after() {
        kUnlock();
        unlock_stdio_list();
    }
    static void after_in_child() {
        kUnlockInChild();
        reset_stdio_list();
    }

    // Ordered by nothing: a library that registers handlers from another thread at start-up takes its chance.
    static inline constinit std::atomic<bool> are_registered{false};
};

}  // namespace gr::platform
