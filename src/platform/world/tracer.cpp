// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tracer.hpp, by PTRACE_SEIZE and PTRACE_INTERRUPT, which send no signal. A thread may not trace threads of its own
//    process, so a process is begun that shares the memory and the files: no page is copied.
// Invariant: the process handles no signal, touches no thread-local storage, and ends with the thread that began it.
// Must not know: which threads are to be stopped, and why.
#include "platform/world/tracer.hpp"

#include <elf.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

#include "platform/process.hpp"
#include "platform/signals_held.hpp"
#include "platform/syscall.hpp"
#include "platform/world/tasks.hpp"
#include "platform/world/waiting_call.hpp"

namespace gr::platform {
namespace {

constexpr std::size_t kStackBytes = std::size_t{64} << 10;
constexpr std::size_t kRedZone = 128;  // below the stack pointer, where x86-64 lets functions keep values
constexpr unsigned kMillisecondsToLookForProcess = 1;  // after so long the process may have been killed
constexpr unsigned kStopOfTracer = PTRACE_EVENT_STOP;

template <class Address, class Data>
long trace(long request, std::uint32_t id, Address address, Data data) {
    return system_call(SYS_ptrace, request, id, address, data);
}

template <class T>
bool read_registers(std::uint32_t id, int set, T *registers) {
    iovec place{registers, sizeof *registers};
    return trace(PTRACE_GETREGSET, id, set, &place) == 0;
}

#if defined(__x86_64__)
constexpr int kVectorSet = NT_X86_XSTATE;

const char *stack_pointer_of(const user_regs_struct &general) { return reinterpret_cast<const char *>(general.rsp); }

bool read_thread_pointer(TracedThread *thread) {
    thread->thread_pointer = thread->general.fs_base;
    return true;
}

// The call that the thread was interrupted in, if the kernel has ended it for that.
WaitingCall ended_call(const user_regs_struct &general) {
    WaitingCall call;
    if (static_cast<long>(general.rax) != -EINTR || static_cast<long>(general.orig_rax) < 0) return call;
    call.number = general.orig_rax;
    call.arguments = {general.rdi, general.rsi, general.rdx, general.r10, general.r8, general.r9};
    return call;
}

// The kernel takes a negative orig_rax as a sign that no call was interrupted.
void repeat_call(TracedThread *thread) {
    constexpr std::size_t kInstructionBytes = 2;
    user_regs_struct general = thread->general;
    general.rax = general.orig_rax;
    general.orig_rax = ~0ULL;
    general.rip -= kInstructionBytes;
    iovec place{&general, sizeof general};
    trace(PTRACE_SETREGSET, thread->id, NT_PRSTATUS, &place);
}
#else
constexpr int kVectorSet = NT_PRFPREG;

const char *stack_pointer_of(const user_regs_struct &general) { return reinterpret_cast<const char *>(general.sp); }

bool read_thread_pointer(TracedThread *thread) {
    return read_registers(thread->id, NT_ARM_TLS, &thread->thread_pointer);
}

// The result of a call has overwritten its first argument, so none can be repeated.
WaitingCall ended_call(const user_regs_struct &) { return {}; }
void repeat_call(TracedThread *) {}
#endif

// The thread has been told to stop. Whatever stops it first will do: a signal that it was about to handle waits.
TracedThread::Answer wait_for(TracedThread *thread) {
    int status = 0;
    long waited = 0;
    do waited = system_call(SYS_wait4, thread->id, &status, __WALL, nullptr);
    while (waited == -EINTR);
    if (waited < 0 || !WIFSTOPPED(status)) return TracedThread::Answer::gone;
    const bool is_by_tracer = static_cast<unsigned>(status) >> 16 == kStopOfTracer;
    thread->signal = is_by_tracer ? 0 : WSTOPSIG(status);
    return TracedThread::Answer::stopped;
}

bool read_all(TracedThread *thread) {
    std::uint64_t blocked = ~std::uint64_t{0};
    trace(PTRACE_GETSIGMASK, thread->id, sizeof blocked, &blocked);
    thread->may_be_on_stack_for_signals = blocked != 0;
    return read_registers(thread->id, NT_PRSTATUS, &thread->general) && read_thread_pointer(thread) &&
           read_registers(thread->id, kVectorSet, &thread->vector);
}

void release(TracedThread *thread) {
    if (thread->is_repeated) repeat_call(thread);
    trace(PTRACE_DETACH, thread->id, 0, thread->signal);
}

}  // namespace

const char *TracedThread::stack_pointer() const { return stack_pointer_of(general) - kRedZone; }

bool Tracer::ask(std::uint32_t id) {
    TracedThread thread{};
    thread.id = id;
    return threads_.add(thread);
}

// What a process that has ended left without an answer.
void Tracer::refuse_unanswered() {
    for (TracedThread &thread : threads_.all()) {
        if (thread.answer == TracedThread::Answer::none) thread.answer = TracedThread::Answer::refused;
    }
}

// The kernel refuses a thread that has ended by the same error as a thread that nobody may trace.
void Tracer::find_ended() {
    for (TracedThread &thread : threads_.all().subspan(first_answered_)) {
        if (thread.answer != TracedThread::Answer::refused) continue;
        if (has_ended(thread.id) || !is_of_parent(thread.id)) thread.answer = TracedThread::Answer::gone;
    }
}

// Where the kernel lets only parents trace, a process may name one other that may trace it.
bool Tracer::permit() {
    bool is_refused = false;
    for (const TracedThread &thread : answers()) is_refused |= thread.answer == TracedThread::Answer::refused;
    if (!is_refused || is_permitted_) return false;
    is_permitted_ = system_call(SYS_prctl, PR_SET_PTRACER, process_, 0, 0, 0) == 0;
    return is_permitted_;
}

bool Tracer::stop_asked() {
    using Answer = TracedThread::Answer;
    std::size_t first = threads_.size();
    while (first != 0 && threads_[first - 1].answer == Answer::none) --first;
    first_answered_ = first;
    if (first == threads_.size()) return true;
    bool is_there = (process_ != 0 || begin_process()) && hand_over(kStops);
    find_ended();
    if (is_there && permit()) {
        for (TracedThread &thread : threads_.all().subspan(first)) {
            if (thread.answer == Answer::refused) thread.answer = Answer::none;
        }
        is_there = hand_over(kStops);
        find_ended();
    }
    refuse_unanswered();
    const auto is_stopped = [](const TracedThread &thread) { return thread.answer == Answer::stopped; };
    return is_there || std::ranges::none_of(threads_.all(), is_stopped);
}

// The process inherits that all signals are blocked: none that is sent to the whole group of processes may run the
// program's handlers in it.
bool Tracer::begin_process() {
    if (stack_ == nullptr) stack_ = static_cast<char *>(map(kStackBytes, 1));
    if (stack_ == nullptr) return false;
    const int errno_before = errno;
    parent_ = process_id();
    work_.store(kIsDone, std::memory_order_relaxed);
    {
        const SignalsHeld held;
        process_ = clone(run, stack_ + kStackBytes, CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_UNTRACED, this);
    }
    errno = errno_before;
    if (process_ < 0) process_ = 0;
    return process_ != 0;
}

// false: it has ended, killed perhaps by a sandbox, and what it traced goes on.
bool Tracer::is_process_there() const {
    return system_call(SYS_wait4, process_, nullptr, WNOHANG | __WALL, nullptr) == 0;
}

// false: the process has ended.
bool Tracer::hand_over(std::uint32_t work) {
    work_.store(work, std::memory_order_release);
    wake_one(work_);
    while (work_.load(std::memory_order_acquire) == work) {
        if (!sleep_on_for(work_, work, kMillisecondsToLookForProcess) || is_process_there()) continue;
        process_ = 0;
        return false;
    }
    return true;
}

void Tracer::let_go() {
    if (process_ != 0) {
        for (TracedThread &thread : threads_.all()) {
            if (thread.answer != TracedThread::Answer::stopped || thread.signal != 0) continue;
            thread.is_repeated = ended_call(thread.general).may_be_repeated() && !is_signal_due(thread.id);
        }
        static_cast<void>(hand_over(kLetsGo));
    }
    threads_.clear();
    first_answered_ = 0;
}

void Tracer::end() {
    if (process_ != 0) system_call(SYS_wait4, process_, nullptr, __WALL, nullptr);
    process_ = 0;
    is_permitted_ = false;
}

// It ends with the thread that began it: nobody would let the traced threads go.
int Tracer::run(void *self) {
    auto &tracer = *static_cast<Tracer *>(self);
    system_call(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (static_cast<unsigned>(system_call(SYS_getppid)) == tracer.parent_) tracer.serve();
    return 0;
}

void Tracer::serve() {
    for (std::uint32_t work = kIsDone; work != kLetsGo;) {
        while ((work = work_.load(std::memory_order_acquire)) == kIsDone) sleep_on(work_, kIsDone);
        work == kStops ? stop_new() : let_all_go();
        work_.store(kIsDone, std::memory_order_release);
        wake_one(work_);
    }
}

// A thread of another process may have got the id since the thread that was asked for ended.
bool Tracer::is_of_parent(std::uint32_t id) const { return system_call(SYS_tgkill, parent_, id, 0) == 0; }

void Tracer::stop_new() {
    using Answer = TracedThread::Answer;
    const std::span<TracedThread> asked = threads_.all().subspan(first_answered_);
    for (TracedThread &thread : asked) {
        if (thread.answer != Answer::none) continue;
        const long seized = trace(PTRACE_SEIZE, thread.id, 0, 0);
        if (seized == 0) {
            trace(PTRACE_INTERRUPT, thread.id, 0, 0);
        } else {
            thread.answer = seized == -ESRCH ? Answer::gone : Answer::refused;
        }
    }
    for (TracedThread &thread : asked) {
        if (thread.answer != Answer::none) continue;
        thread.answer = wait_for(&thread);
        if (thread.answer != Answer::stopped) continue;
        if (!is_of_parent(thread.id)) {
            thread.answer = Answer::gone;
        } else if (!read_all(&thread)) {
            thread.answer = Answer::refused;
        }
        if (thread.answer != Answer::stopped) release(&thread);
    }
}

void Tracer::let_all_go() {
    for (TracedThread &thread : threads_.all()) {
        if (thread.answer == TracedThread::Answer::stopped) release(&thread);
    }
}

}  // namespace gr::platform
