// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's threads and stacks: pthread functions by other names, registration, the lock, stopping one or all.
// Invariant: a thread inside GC_do_blocking is not stopped, and of its stack what lay above the call is scanned.
// Must not know: how threads are stopped.
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <cerrno>
#include <new>

#include "instance/instances.hpp"
#include "libgc/allocation.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"
#include "libgc/settings.hpp"
#include "libgc/threads.hpp"
#include "platform/loader.hpp"

namespace {

using gr::collector;
using gr::Locked;
using gr::ThreadEntry;
using gr::Threads;
using gr::threads;

constexpr int kSuccess = 0;
constexpr int kDuplicate = 1;
constexpr int kUnimplemented = 3;

using Routine = void *(*)(void *);
using StackPointerCorrector = void (*)(void **stack_pointer, void *thread);

constinit std::atomic<bool> are_allowed{false};  // ordered by nothing

// Lies where it is scanned: the argument may be in nobody else's hands.
struct Start {
    Routine routine;
    void *argument;
    bool is_joinable;
    gr::platform::FutexWord is_registered;
};

constinit std::atomic<StackPointerCorrector> corrector{nullptr};  // ordered by nothing

void correct_stack_pointer(const char **stack_pointer, std::uintptr_t handle) {
    auto *corrected = const_cast<void *>(static_cast<const void *>(*stack_pointer));
    corrector.load(std::memory_order_relaxed)(&corrected, reinterpret_cast<void *>(handle));
    *stack_pointer = static_cast<const char *>(corrected);
}

void keep_result(void *result) {
    if (ThreadEntry *const caller = Threads::mine()) caller->result = result;
}

void *run(void *start_of_parent) {
    auto &start = *static_cast<Start *>(start_of_parent);
    const Routine routine = start.routine;
    void *const argument = start.argument;
    {
        const Locked locked;
        threads.add_caller(nullptr, start.is_joinable);
    }
    start.is_registered.store(1, std::memory_order_release);
    gr::platform::wake_all(start.is_registered);
    void *const result = routine(argument);
    keep_result(result);
    return result;
}

bool is_joinable(const pthread_attr_t *attributes) {
    int state = PTHREAD_CREATE_JOINABLE;
    if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &state);
    return state == PTHREAD_CREATE_JOINABLE;
}

// libc gives the id to another thread as soon as it has done this, so the entry is looked for before.
template <class Call>
int forget_result(pthread_t id, Call call) {
    ThreadEntry *thread = nullptr;
    {
        const Locked locked;
        thread = threads.find_joinable(id);
    }
    const int error = call();
    if (error != 0 || thread == nullptr) return error;
    const Locked locked;
    threads.forget_result(thread);
    return error;
}

}  // namespace

extern "C" {

GR_EXPORT int GC_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, Routine routine, void *argument) {
    gr::ensure_initialised();
    are_allowed.store(true, std::memory_order_relaxed);
    void *const memory = gr::allocate_own(gr::kUncollectable, sizeof(Start));
    if (memory == nullptr) return EAGAIN;
    auto *const start = ::new (memory) Start{routine, argument, is_joinable(attributes), {}};
    const int error = pthread_create(thread, attributes, run, start);
    while (error == 0 && start->is_registered.load(std::memory_order_acquire) == 0)
        gr::platform::sleep_on(start->is_registered, 0);
    gr::free_own(start);
    return error;
}
GR_EXPORT int GC_pthread_join(pthread_t thread, void **result) {
    return forget_result(thread, [=] { return pthread_join(thread, result); });
}
GR_EXPORT int GC_pthread_detach(pthread_t thread) {
    return forget_result(thread, [=] { return pthread_detach(thread); });
}
GR_EXPORT int GC_pthread_cancel(pthread_t thread) { return pthread_cancel(thread); }
[[noreturn]] GR_EXPORT void GC_pthread_exit(void *result) {
    keep_result(result);
    pthread_exit(result);
}
GR_EXPORT int GC_pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    if (set == nullptr || how == SIG_UNBLOCK) return pthread_sigmask(how, set, old);
    sigset_t others = *set;
    sigdelset(&others, gr::suspend_signal());
    return pthread_sigmask(how, &others, old);
}

// What is loaded may not be known to anybody yet. dlopen is looked up by name: a reference would make the linker warn in
// every static program, where there is nothing to load.
GR_EXPORT void *GC_dlopen(const char *path, int flags) {
    const auto open = reinterpret_cast<decltype(&dlopen)>(gr::platform::program_symbol("dlopen"));
    if (open == nullptr) return nullptr;
    const std::atomic_ref<int> disabled(GC_dont_gc);
    disabled.fetch_add(1, std::memory_order_relaxed);
    void *const library = open(path, flags);
    disabled.fetch_sub(1, std::memory_order_relaxed);
    return library;
}

GR_EXPORT void GC_allow_register_threads() {
    gr::ensure_initialised();
    are_allowed.store(true, std::memory_order_relaxed);
}
GR_EXPORT int GC_register_my_thread(const GC_stack_base *base) {
    if (!are_allowed.load(std::memory_order_relaxed))
        gr::die("GC_register_my_thread: call GC_allow_register_threads first");
    const Locked locked;
    return threads.add_caller(base->mem_base) ? kSuccess : kDuplicate;
}
GR_EXPORT int GC_unregister_my_thread() {
    const Locked locked;
    threads.remove_caller();
    return kSuccess;
}
GR_EXPORT int GC_thread_is_registered() { return Threads::mine() != nullptr ? 1 : 0; }
// A thread that is interrupted on another stack has both scanned.
GR_EXPORT void GC_register_altstack(void *, GC_word, void *, GC_word) {}

GR_EXPORT int GC_get_stack_base(GC_stack_base *base) {
    base->mem_base = gr::stack_bottom_of_caller();
    return base->mem_base != nullptr ? kSuccess : kUnimplemented;
}
[[gnu::noinline]] GR_EXPORT void *GC_call_with_stack_base(void *(*call)(GC_stack_base *, void *), void *argument) {
    GC_stack_base base{__builtin_frame_address(0)};
    void *const result = call(&base, argument);
    asm volatile("" : : "r"(&base) : "memory");  // so that this frame stays
    return result;
}
GR_EXPORT void *GC_get_my_stackbottom(GC_stack_base *base) {
    const Locked locked;
    ThreadEntry *const thread = Threads::mine();
    if (thread == nullptr) gr::die("GC_get_my_stackbottom: the thread is not registered");
    base->mem_base = gr::stack_bottom_of(*thread);
    return thread;
}
GR_EXPORT void GC_set_stackbottom(void *thread, const GC_stack_base *base) {
    auto *const entry = thread != nullptr ? static_cast<ThreadEntry *>(thread) : Threads::mine();
    if (!gr::is_initialised() || entry == nullptr) {
        gr::store(GC_stackbottom, static_cast<char *>(base->mem_base));
    } else {
        gr::set_stack_bottom(*entry, base->mem_base);
    }
}

// The registers of the callers are saved in this frame, and what the call is given and returns lies in it, too: all that
// is scanned while the thread rests.
[[gnu::noinline]] GR_EXPORT void *GC_do_blocking(Routine call, void *argument) {
    ThreadEntry *const thread = Threads::mine();
    if (thread == nullptr || thread->known.rests()) return call(argument);
    __builtin_unwind_init();
    void *volatile kept = argument;
    thread->known.begin_rest(gr::Roots::below_caller());
    kept = call(argument);
    thread->known.end_rest();
    return kept;
}
// Afterwards the thread rests in the same frame as before.
GR_EXPORT void *GC_call_with_gc_active(Routine call, void *argument) {
    ThreadEntry *const thread = Threads::mine();
    if (thread == nullptr || !thread->known.rests()) return call(argument);
    const char *const resting_at = thread->known.stack_pointer();
    thread->known.end_rest();
    void *const result = call(argument);
    thread->known.begin_rest(resting_at);
    return result;
}

GR_EXPORT void GC_set_sp_corrector(StackPointerCorrector correct) {
    const Locked locked;
    corrector.store(correct, std::memory_order_relaxed);
    collector.roots().set_corrector(correct == nullptr ? nullptr : correct_stack_pointer);
}
GR_EXPORT StackPointerCorrector GC_get_sp_corrector() { return corrector.load(std::memory_order_relaxed); }

GR_EXPORT void *GC_call_with_alloc_lock(Routine call, void *argument) {
    const Locked locked;
    return call(argument);
}
GR_EXPORT void GC_alloc_lock() { collector.lock(); }
GR_EXPORT void GC_alloc_unlock() { collector.unlock(); }

// Nobody collects meanwhile, for the world stands already.
GR_EXPORT void GC_stop_world_external() {
    gr::ensure_initialised();
    collector.lock();
    collector.pace().disabled.fetch_add(1, std::memory_order_relaxed);
    gr::instances.lock_all();
    if (!gr::platform::world.stop({})) gr::die("GC_stop_world_external: threads cannot be stopped");
}
GR_EXPORT void GC_start_world_external() {
    gr::platform::world.resume();
    gr::instances.unlock_all();
    collector.pace().disabled.fetch_sub(1, std::memory_order_relaxed);
    collector.unlock();
}

GR_EXPORT void GC_suspend_thread(pthread_t id) {
    ThreadEntry *const caller = Threads::mine();
    if (caller != nullptr && pthread_equal(caller->id, id) != 0) return threads.suspend_caller(*caller);
    const Locked locked;
    if (ThreadEntry *const thread = threads.find(id)) threads.suspend(*thread);
}
GR_EXPORT void GC_resume_thread(pthread_t id) {
    const Locked locked;
    if (ThreadEntry *const thread = threads.find(id)) Threads::resume(*thread);
}
GR_EXPORT int GC_is_thread_suspended(pthread_t id) {
    const Locked locked;
    const ThreadEntry *const thread = threads.find(id);
    return thread != nullptr && Threads::is_suspended(*thread) ? 1 : 0;
}

GR_EXPORT void GC_set_suspend_signal(int signal) { gr::settings.suspend_signal = signal; }
GR_EXPORT int GC_get_suspend_signal() { return gr::suspend_signal(); }
GR_EXPORT void GC_set_thr_restart_signal(int signal) { gr::settings.restart_signal = signal; }
GR_EXPORT int GC_get_thr_restart_signal() { return gr::restart_signal(); }

GR_EXPORT void GC_start_mark_threads() {
    gr::ensure_initialised();
    const Locked locked;
    collector.markers().ensure_helpers();
    gr::store(GC_parallel, static_cast<int>(collector.markers().helpers()));
}
GR_EXPORT int GC_get_parallel() { return gr::now(GC_parallel); }

}  // extern "C"
