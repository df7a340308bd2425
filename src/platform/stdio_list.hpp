// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the lock of the C library's list of open streams, which its fork takes after the handlers of fork.
// Invariant: recursive; where the library has none, nothing happens.
// Must not know: why anybody takes it.
#pragma once

extern "C" {
[[gnu::weak]] void _IO_list_lock();
[[gnu::weak]] void _IO_list_unlock();
[[gnu::weak]] void _IO_list_resetlock();
}

namespace gr::platform {

// Who flushes all streams holds the list and waits for a stream, and who holds that may be waiting for malloc. So a
// handler of fork that takes malloc's locks takes this one first.
inline void lock_stdio_list() {
    if (_IO_list_lock != nullptr) _IO_list_lock();
}
inline void unlock_stdio_list() {
    if (_IO_list_unlock != nullptr) _IO_list_unlock();
}
// In fork's child, where nobody else can hold it.
inline void reset_stdio_list() {
    if (_IO_list_resetlock != nullptr) _IO_list_resetlock();
}

}  // namespace gr::platform
