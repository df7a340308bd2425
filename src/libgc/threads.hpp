// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the threads that clients have registered, and what clients told of them. All threads are stopped and scanned,
//    registered or not.
// Invariant: an entry goes before its thread does; under the lock of the collector but for what says otherwise.
// Must not know: how threads are stopped and stacks are scanned.
#pragma once

#include <pthread.h>

#include "platform/futex.hpp"
#include "platform/world/known_thread.hpp"

namespace gr {

// In a block that is scanned, for what a thread returned lies nowhere else until somebody has joined it.
struct ThreadEntry {
    pthread_t id;
    char *stack_bottom;  // but of the process's first thread, for which clients write to GC_stackbottom
    void *result;
    bool is_joinable;
    bool has_left;
    bool is_first;  // of the process
    ThreadEntry *next;
    platform::FutexWord state;  // a Pause; release, with the acquire of who waits for it
    platform::KnownThread known;
};

char *stack_bottom_of(ThreadEntry &thread);
void set_stack_bottom(ThreadEntry &thread, void *bottom);

class Threads {
  public:
    constexpr Threads() = default;

    // Of the calling thread; nullptr: it is not registered. Without the lock.
    static ThreadEntry *mine();
    // The last with that id, though it may have left; nullptr: it is not registered, or forgotten.
    ThreadEntry *find(pthread_t id) const;
    // The last whose result is kept; it stays until it is forgotten.
    ThreadEntry *find_joinable(pthread_t id) const;

    // nullptr bottom: found out. false: it was registered.
    bool add_caller(void *stack_bottom, bool is_joinable = false);
    void remove_caller();
    // What it returned is nobody's affair any more.
    void forget_result(ThreadEntry *thread);
    void forget_others();

    // Until it is resumed the thread stands, as one that has left does anyway; not counted. Of the caller's own without
    // the lock.
    void suspend(ThreadEntry &thread);
    void suspend_caller(ThreadEntry &caller);
    static void resume(ThreadEntry &thread);
    static bool is_suspended(const ThreadEntry &thread);

  private:
    void remove(ThreadEntry *thread);

    bool is_prepared_ = false;  // to be told of ends of threads
    bool can_suspend_ = false;
    ThreadEntry *first_ = nullptr;
    pthread_key_t at_end_{};
};
extern Threads threads;

// The cold end of the stack, as libc tells it. nullptr: it does not.
void *stack_bottom_of_caller();

int suspend_signal();
int restart_signal();

// In fork's child.
void unlock_in_child_and_forget();

}  // namespace gr
