// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a thread has told of itself before any stop: where its stack ends, and that it rests, which means that it
//    does not touch the program's data until it says so.
// Invariant: a thread that rests when it is held stays at rest until it is let go: end_rest() waits.
// Must not know: who stops threads, and why.
#pragma once

#include <pthread.h>

#include "platform/futex.hpp"
#include "platform/thread.hpp"
#include "platform/world/tasks.hpp"

namespace gr::platform {

class KnownThread {
  public:
    constexpr KnownThread() = default;
    // Of the calling thread. The end of its stack is read from the variable at each stop.
    explicit KnownThread(char **stack_end)
        : handle_(pthread_self()), id_(task_of_caller()), thread_pointer_(thread_pointer()), stack_end_(stack_end) {}

    std::uint32_t id() const { return id_; }
    pthread_t handle() const { return handle_; }
    std::uintptr_t pointer() const { return thread_pointer_; }
    const char *stack_end() const { return std::atomic_ref<char *>(*stack_end_).load(std::memory_order_relaxed); }
    // In fork's child, by its only thread.
    void learn_new_id() { id_ = task_of_caller(); }

    // By the thread itself. What lies on its stack below the pointer is not needed until the rest ends.
    void begin_rest(const char *stack_pointer) {
        stack_pointer_ = stack_pointer;
        state_.store(kRests, std::memory_order_release);
    }
    void end_rest() {
        for (;;) {
            std::uint32_t state = kRests;
            if (state_.compare_exchange_strong(state, kIsActive, std::memory_order_acquire)) return;
            if (state == kHeld && !state_.compare_exchange_strong(state, kIsAwaited, std::memory_order_relaxed))
                continue;
            sleep_on(state_, kIsAwaited);
        }
    }
    bool rests() const { return state_.load(std::memory_order_relaxed) != kIsActive; }
    const char *stack_pointer() const { return stack_pointer_; }

    // By the thread that stops all others. false: it does not rest, and is not held.
    bool hold() {
        std::uint32_t state = kRests;
        return state_.compare_exchange_strong(state, kHeld, std::memory_order_acquire);
    }
    void let_go() {
        std::uint32_t state = state_.load(std::memory_order_relaxed);
        if (state != kHeld && state != kIsAwaited) return;
        state = state_.exchange(kRests, std::memory_order_release);
        if (state == kIsAwaited) wake_all(state_);
    }

  private:
    friend class World;  // the list
    enum : std::uint32_t { kIsActive, kRests, kHeld, kIsAwaited };

    pthread_t handle_{};
    std::uint32_t id_ = 0;
    std::uintptr_t thread_pointer_ = 0;
    char **stack_end_ = nullptr;
    const char *stack_pointer_ = nullptr;
    // release where a rest begins and where a stop lets go, with the acquire of hold() and of end_rest()
    FutexWord state_{kIsActive};
    KnownThread *next_ = nullptr;
    KnownThread *previous_ = nullptr;
};

}  // namespace gr::platform
