// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the fork handlers of a malloc.
// Invariant: they are registered before all other handlers. So fork locks the malloc after all other handlers have run,
//    and unlocks it before any handler runs after the fork: those handlers may allocate, or wait for a thread that
//    allocates. The C library's list of streams is locked before the malloc.
// Must not know: what the malloc locks.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cerrno>

#include "platform/loader.hpp"
#include "platform/stdio_list.hpp"

namespace gr::platform {

// Each library has one of these.
template <void (*kLock)(), void (*kUnlock)(), void (*kUnlockInChild)()>
class ForkHandlers {
  public:
    using Handler = void (*)();

    static void register_first() {
        if (!are_registered.exchange(true)) pthread_atfork(before, after, after_in_child);
    }
    // For the library's own __register_atfork, which pthread_atfork calls. The constructor of a library that does not
    // depend on this one may register handlers before this library's constructor runs.
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

    // Pairs with nothing: if a library registers handlers from another thread at start-up, they may come first.
    static inline constinit std::atomic<bool> are_registered{false};
};

}  // namespace gr::platform
