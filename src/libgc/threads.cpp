// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/threads.hpp"

#include <signal.h>

#include <new>

#include "instance/instances.hpp"
#include "libgc/allocation.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"
#include "libgc/settings.hpp"
#include "libgc/variables.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

enum Pause : std::uint32_t { kRuns, kIsAsked, kStands };

thread_local constinit ThreadEntry *of_caller = nullptr;

void stand(ThreadEntry &thread) {
    thread.state.store(kStands, std::memory_order_release);
    platform::wake_all(thread.state);
    while (thread.state.load(std::memory_order_acquire) == kStands) platform::sleep_on(thread.state, kStands);
}

// Whatever was interrupted finds errno as it was; raw calls do not touch it. The world may be stopped meanwhile.
void take_signal(int) {
    ThreadEntry *const thread = of_caller;
    if (thread != nullptr && thread->state.load(std::memory_order_acquire) == kIsAsked) stand(*thread);
}

void forget_at_end(void *) {
    const Locked locked;
    threads.remove_caller();
}

char *&bottom_variable(ThreadEntry &thread) { return thread.is_first ? GC_stackbottom : thread.stack_bottom; }

}  // namespace

constinit Threads threads;

char *stack_bottom_of(ThreadEntry &thread) { return now(bottom_variable(thread)); }
void set_stack_bottom(ThreadEntry &thread, void *bottom) {
    store(bottom_variable(thread), static_cast<char *>(bottom));
}

ThreadEntry *Threads::mine() { return of_caller; }

ThreadEntry *Threads::find(pthread_t id) const {
    ThreadEntry *thread = first_;
    while (thread != nullptr && pthread_equal(thread->id, id) == 0) thread = thread->next;
    return thread;
}

ThreadEntry *Threads::find_joinable(pthread_t id) const {
    ThreadEntry *thread = first_;
    while (thread != nullptr && (!thread->is_joinable || pthread_equal(thread->id, id) == 0)) thread = thread->next;
    return thread;
}

bool Threads::add_caller(void *stack_bottom, bool is_joinable) {
    if (of_caller != nullptr) return false;
    if (!is_prepared_) is_prepared_ = pthread_key_create(&at_end_, forget_at_end) == 0;
    void *const memory = allocate_own(kUncollectable, sizeof(ThreadEntry));
    if (memory == nullptr) die_without_memory();
    if (stack_bottom == nullptr) stack_bottom = stack_bottom_of_caller();
    const bool is_first = platform::is_first_thread();
    char **const bottom = is_first ? &GC_stackbottom : &static_cast<ThreadEntry *>(memory)->stack_bottom;
    auto *const thread = ::new (memory) ThreadEntry{.id = pthread_self(),
                                                    .stack_bottom = static_cast<char *>(stack_bottom),
                                                    .result = nullptr,
                                                    .is_joinable = is_joinable,
                                                    .has_left = false,
                                                    .is_first = is_first,
                                                    .next = first_,
                                                    .state = {},
                                                    .known = platform::KnownThread(bottom)};
    platform::world.add(thread->known);
    first_ = of_caller = thread;
    if (is_prepared_) pthread_setspecific(at_end_, thread);
    return true;
}

void Threads::remove_caller() {
    ThreadEntry *const thread = of_caller;
    if (thread == nullptr) return;
    of_caller = nullptr;
    platform::world.remove(thread->known);
    if (is_prepared_) pthread_setspecific(at_end_, nullptr);
    thread->has_left = true;
    if (!thread->is_joinable) remove(thread);
}

void Threads::forget_result(ThreadEntry *thread) {
    thread->is_joinable = false;
    if (thread->has_left) remove(thread);
}

void Threads::remove(ThreadEntry *thread) {
    ThreadEntry **link = &first_;
    while (*link != thread) link = &(*link)->next;
    *link = thread->next;
    free_own(thread);
}

void Threads::forget_others() {
    first_ = of_caller;
    if (of_caller != nullptr) of_caller->next = nullptr;
    platform::world.forget_known_but(of_caller != nullptr ? &of_caller->known : nullptr);
}

// With all locks, so that it holds none where it stands.
void Threads::suspend(ThreadEntry &thread) {
    if (thread.has_left) return thread.state.store(kStands, std::memory_order_relaxed);
    if (!can_suspend_) {
        struct sigaction action {};
        action.sa_handler = take_signal;
        action.sa_flags = SA_RESTART;
        can_suspend_ = sigaction(restart_signal(), &action, nullptr) == 0;
    }
    if (!can_suspend_ || is_suspended(thread)) return;
    instances.lock_all();
    thread.state.store(kIsAsked, std::memory_order_release);
    if (pthread_kill(thread.id, restart_signal()) != 0) thread.state.store(kRuns, std::memory_order_relaxed);
    while (thread.state.load(std::memory_order_acquire) == kIsAsked) platform::sleep_on(thread.state, kIsAsked);
    instances.unlock_all();
}

void Threads::suspend_caller(ThreadEntry &caller) { stand(caller); }

void Threads::resume(ThreadEntry &thread) {
    thread.state.store(kRuns, std::memory_order_release);
    platform::wake_all(thread.state);
}

bool Threads::is_suspended(const ThreadEntry &thread) {
    return thread.state.load(std::memory_order_acquire) == kStands;
}

void *stack_bottom_of_caller() {
    pthread_attr_t attributes;
    void *low = nullptr;
    std::size_t bytes = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return nullptr;
    const bool known = pthread_attr_getstack(&attributes, &low, &bytes) == 0;
    pthread_attr_destroy(&attributes);
    return known ? static_cast<char *>(low) + bytes : nullptr;
}

int suspend_signal() {
    if (platform::world.signal() != 0) return platform::world.signal();
    return settings.suspend_signal < 0 ? default_suspend_signal() : settings.suspend_signal;
}
int restart_signal() { return settings.restart_signal < 0 ? SIGXCPU : settings.restart_signal; }

void unlock_in_child_and_forget() {
    threads.forget_others();
    unlock_in_child();
}

}  // namespace gr
