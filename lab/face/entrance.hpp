// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the way into an allocator. No paper's allocator can be entered by a thread that is in it, so a signal handler
//    learns here that it interrupted the allocator, and the blocks that it frees wait until the thread is out. Fork
//    enters, too, and takes the allocator's locks.
// Invariant: a thread is in the allocator once. At whatever instruction a handler interrupts the thread, the handler's
//    own fork either takes the locks or finds the thread inside. So a child in which malloc enters the allocator has
//    the locks, and waits for no thread that it lacks.
// Must not know: what the allocator does; where handlers get blocks meanwhile.
#pragma once

#include <atomic>

#include "parts/contract/allocator.hpp"
#include "parts/lists/free_list.hpp"
#include "parts/lists/remote_list.hpp"

namespace gr::lab {

template <auto &kAllocator>
class Entrance {
  public:
    // For a scope; tells whether the thread was outside.
    class [[nodiscard]] Inside {
      public:
        Inside() : is_first_(!is_inside()) {
            if (is_first_) [[likely]]
                enter();
        }
        ~Inside() {
            if (!is_first_) return;
            leave();
            if (!here.left.is_empty()) [[unlikely]]
                free_what_was_left();
        }
        Inside(const Inside &) = delete;
        Inside &operator=(const Inside &) = delete;

        bool is_first() const { return is_first_; }

      private:
        bool is_first_;
    };

    // A block that a handler frees while the thread that it interrupted is inside.
    static void free_later(void *block) { here.left.push(block); }

    // For fork. A handler that interrupts fork may fork, too: its fork locks nothing if the thread is inside already,
    // and otherwise has unlocked before the interrupted fork goes on.
    static void lock() {
        if (is_inside()) {
            ++here.forks_inside;
            return;
        }
        enter();
        kAllocator.lock();
    }
    static void unlock() {
        if (here.forks_inside != 0) {
            --here.forks_inside;
            return;
        }
        kAllocator.unlock();
        leave();
        free_what_was_left();
    }

  private:
    // Of the calling thread, ordered by nothing but against the thread's own signal handlers.
    struct Here {
        std::atomic<bool> is_inside{false};
        unsigned forks_inside = 0;  // forks of handlers that interrupted the thread inside. They took no lock
        LockFreeRemoteList left;    // what handlers freed meanwhile
    };
    static inline thread_local constinit Here here;

    static bool is_inside() { return here.is_inside.load(std::memory_order_relaxed); }
    static void enter() {
        here.is_inside.store(true, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    // A handler that comes before the store leaves its blocks. A handler that comes later frees them itself.
    static void leave() {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        here.is_inside.store(false, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    [[gnu::cold, gnu::noinline]] static void free_what_was_left() {
        while (!here.left.is_empty()) {
            FreeList blocks = here.left.take_all();
            enter();
            while (void *const block = blocks.pop()) kAllocator.free(block);
            leave();
        }
    }
};

}  // namespace gr::lab
