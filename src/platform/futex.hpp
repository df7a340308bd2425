// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: sleeping on a word of memory until somebody changes it and says so.
// Invariant: who sleeps may wake for no reason, and looks again.
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

// Not at all if the word is another already.
inline void sleep_on(FutexWord &word, std::uint32_t value) {
    system_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, nullptr, nullptr, 0);
}
// Whether the time was up.
inline bool sleep_on_for(FutexWord &word, std::uint32_t value, unsigned milliseconds) {
    const timespec time{milliseconds / 1000, static_cast<long>(milliseconds % 1000) * 1000000};
    return system_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, value, &time, nullptr, 0) == -ETIMEDOUT;
}
inline void wake_all(FutexWord &word) {
    system_call(SYS_futex, &word, FUTEX_WAKE_PRIVATE, INT32_MAX, nullptr, nullptr, 0);
}
inline void wake_one(FutexWord &word) { system_call(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); }

}  // namespace gr::platform
