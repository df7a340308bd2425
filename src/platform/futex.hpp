// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: sleeping on a word of memory until another thread changes it and wakes the sleeper.
// Invariant: a thread may wake for no reason, so it looks at the word again.
// Must not know: what the word means.
#pragma once

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>
#include <cstdint>

#include "platform/syscall.hpp"

namespace gr::platform {

using FutexWord = std::atomic<std::uint32_t>;

// Does not sleep if the word no longer is `value`.
inline void sleep_on(FutexWord &word, std::uint32_t value) {
    system_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
// Sleeps like sleep_on, for at most so many milliseconds. Returns whether the time was up.
inline bool sleep_on_for(FutexWord &word, std::uint32_t value, unsigned milliseconds) {
    const timespec time{milliseconds / 1000, static_cast<long>(milliseconds % 1000) * 1000000};
    return system_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &time, nullptr, 0) == -ETIMEDOUT;
}
inline void wake_all(FutexWord &word) {
    system_call(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}
inline void wake_one(FutexWord &word) { system_call(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

}  // namespace gr::platform
