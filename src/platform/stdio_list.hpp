// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the lock of the C library's list of open streams, which its fork takes after the handlers of fork.
// Invariant: recursive; where the library has none, nothing happens.
// Must not know: why the caller takes it.
#pragma once

extern "C" {
[[gnu::weak]] void _IO_list_lock();
[[gnu::weak]] void _IO_list_unlock();
[[gnu::weak]] void _IO_list_resetlock();
}

namespace gr::platform {

// A thread that flushes all streams holds the list and waits for a stream. The thread that holds that stream may be
// waiting for malloc. So a fork handler that takes malloc's locks takes this lock first.
inline void lock_stdio_list() {
    if (_IO_list_lock != nullptr) _IO_list_lock();
}
inline void unlock_stdio_list() {
    if (_IO_list_unlock != nullptr) _IO_list_unlock();
}
// In fork's child, where no other thread can hold the lock.
inline void reset_stdio_list() {
    if (_IO_list_resetlock != nullptr) _IO_list_resetlock();
}

}  // namespace gr::platform
