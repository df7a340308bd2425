// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a thread remembers from one stack to the next: its last walk, the places of Python, and what its ring has.
// Invariant: whoever changes it has acquired it. A signal handler that comes meanwhile gets nothing, and neither does a
//    thread whose ring another thread has by now. The memory of a ring stays when its thread is gone, for the next one.
// Must not know: how stacks are taken or written.
#pragma once

#include <atomic>
#include <cstdint>

#include "platform/unwind/stack_walk.hpp"
#include "recorder/python_places.hpp"
#include "recorder/sent_stack.hpp"

namespace gr {

class ThreadStacks {
  public:
    constexpr ThreadStacks() = default;

    // For the calling thread, which has taken that ring. nullptr: there is no memory, or a thread of an earlier recording
    // is still changing it.
    static ThreadStacks *begin(std::uint32_t ring);

    // false: it must not be changed now.
    bool acquire() noexcept {
        // Acquire: pairs with the release of whoever changed it before.
        if (is_used_.exchange(true, std::memory_order_acquire)) return false;
        if (owner_ == own_mark()) return true;
        release();
        return false;
    }
    // Called after acquire(), once the stack has been written or is lost.
    void settle(bool is_written) noexcept {
        sent.settle(is_written);
        release();
    }

    platform::StackMemory walk;
    PythonPlaces places;
    SentStack sent;

  private:
    static const void *own_mark();
    void release() { is_used_.store(false, std::memory_order_release); }

    std::atomic<bool> is_used_{false};
    const void *owner_ = nullptr;  // an address that only the thread has, as long as it lives
};

}  // namespace gr
