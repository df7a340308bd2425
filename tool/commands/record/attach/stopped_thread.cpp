// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/attach/stopped_thread.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

namespace gr::tool {

namespace {

// Not in every libc's header.
constexpr int kRseqConfiguration = 0x420f;
struct RseqConfiguration {
    std::uint64_t area;
    std::uint32_t bytes;
    std::uint32_t signature;
    std::uint32_t flags;
    std::uint32_t unused;
};
struct RseqSequence {
    std::uint32_t version;
    std::uint32_t flags;
    std::uint64_t begin;
    std::uint64_t bytes;
    std::uint64_t abort;
};
constexpr std::uint64_t kRseqSequenceAt = 8;  // in the area
constexpr int kSyscallStop = SIGTRAP | 0x80;

bool trace(int request, int thread, std::uint64_t address = 0, std::uint64_t data = 0) {
    return ::ptrace(static_cast<__ptrace_request>(request), thread, address, data) == 0;
}

// Calls that end with EINTR after any stop of their thread, where others are begun again by the kernel; see signal(7).
bool ends_at_any_stop(long call) {
    constexpr long kCalls[] = {SYS_epoll_pwait,     SYS_epoll_pwait2, SYS_semop,         SYS_semtimedop,
                               SYS_rt_sigtimedwait, SYS_io_getevents, SYS_io_uring_enter};
    const std::span<const long> older = older_calls_that_any_stop_ends();
    return std::ranges::find(kCalls, call) != std::end(kCalls) || std::ranges::find(older, call) != older.end();
}

}  // namespace

StoppedThread::Stopped StoppedThread::stop(int process, int thread) {
    if (!trace(PTRACE_SEIZE, thread, 0, PTRACE_O_TRACESYSGOOD)) return {nullptr, errno};
    std::unique_ptr<StoppedThread> stopped(new StoppedThread(process, thread));
    if (!trace(PTRACE_INTERRUPT, thread) || !stopped->wait_for_first_stop()) {
        stopped->is_gone_ = true;
        return {nullptr, ESRCH};
    }
    return {std::move(stopped), 0};
}

// A signal that comes first is delivered: the thread then stands at the beginning of its handler.
bool StoppedThread::wait_for_first_stop() {
    for (;;) {
        int status = 0;
        if (!wait_for_stop(&status)) return false;
        if (status >> 16 == PTRACE_EVENT_STOP) {
            is_in_stopped_process_ = WSTOPSIG(status) != SIGTRAP;
            break;
        }
        if (!trace(PTRACE_CONT, thread_, 0, static_cast<std::uint64_t>(WSTOPSIG(status)))) return false;
    }
    const std::optional<Registers> registers = Registers::of(thread_);
    if (registers) registers_ = *registers;
    return registers.has_value();
}

StoppedThread::~StoppedThread() {
    if (is_gone_) return;
    repeat_call_that_only_the_stop_ended();
    trace(PTRACE_DETACH, thread_);
    if (held_signal_ != 0) ::syscall(SYS_tgkill, process_, thread_, held_signal_);
}

void StoppedThread::repeat_call_that_only_the_stop_ended() {
    const std::optional<long> call = registers_.call();
    if (!call || registers_.result() != -EINTR || !ends_at_any_stop(*call) || has_signal()) return;
    registers_.repeat_call();
    registers_.set(thread_);
}

// One that is to be delivered.
bool StoppedThread::has_signal() const {
    const std::uint64_t pending = signals_in_status("SigPnd:") | signals_in_status("ShdPnd:");
    return (pending & ~signals_in_status("SigBlk:")) != 0;
}

bool StoppedThread::ignores(int signal) const { return (signals_in_status("SigIgn:") >> (signal - 1) & 1) != 0; }

std::uint64_t StoppedThread::signals_in_status(std::string_view name) const {
    std::ifstream file(fmt::format("/proc/{}/task/{}/status", process_, thread_));
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(name)) return std::stoull(line.substr(name.size()), nullptr, 16);
    }
    return 0;
}

bool StoppedThread::is_in_restartable_sequence() const {
    RseqConfiguration configuration{};
    const long bytes =
        ::ptrace(static_cast<__ptrace_request>(kRseqConfiguration), thread_, sizeof configuration, &configuration);
    std::uint64_t at = 0;
    if (bytes <= 0 || configuration.area == 0 || !read(configuration.area + kRseqSequenceAt, &at, sizeof at) || at == 0)
        return false;
    RseqSequence sequence{};
    return read(at, &sequence, sizeof sequence) && registers_.code() - sequence.begin < sequence.bytes;
}

StoppedThread::Event StoppedThread::run_to_call() { return run(PTRACE_SYSCALL); }
StoppedThread::Event StoppedThread::run_to_fault() { return run(PTRACE_CONT); }

// A SIGSTOP or SIGCONT to the process makes the thread stand, too; such a stop is passed over.
StoppedThread::Event StoppedThread::run(int request) {
    Event event = Event::stood;
    while (event == Event::stood) event = run_to_event(request);
    return event;
}

StoppedThread::Event StoppedThread::run_to_event(int request) {
    if (!trace(request, thread_)) {
        is_gone_ = true;
        return Event::gone;
    }
    return wait_for_event(request);
}

StoppedThread::Event StoppedThread::stand() {
    if (!trace(PTRACE_INTERRUPT, thread_)) {
        is_gone_ = true;
        return Event::gone;
    }
    return run_to_event(PTRACE_CONT);
}

bool StoppedThread::step() {
    const std::string_view call = system_call_code();
    std::string code(call.size(), '\0');
    if (registers_.call() || !read(registers_.code(), code.data(), code.size()) || code == call) return false;
    for (std::uint64_t signal = 0;;) {
        int status = 0;
        if (!trace(PTRACE_SINGLESTEP, thread_, 0, signal) || !wait_for_stop(&status)) {
            is_gone_ = true;
            return false;
        }
        const bool is_step = status >> 16 == 0 && WSTOPSIG(status) == SIGTRAP;
        if (is_step) break;
        signal = status >> 16 == 0 ? static_cast<std::uint64_t>(WSTOPSIG(status)) : 0;
    }
    const std::optional<Registers> registers = Registers::of(thread_);
    if (registers) registers_ = *registers;
    return registers.has_value();
}

bool StoppedThread::wait_for_stop(int *status) const {
    while (::waitpid(thread_, status, __WALL) != thread_) {
        if (errno != EINTR) return false;
    }
    return WIFSTOPPED(*status);
}

// The kernel begins an interrupted system call again after a stop like the first, and after no other.
void StoppedThread::set_back(std::uint64_t signals, const VectorRegisters *vectors) {
    if (is_gone_ || stand() == Event::gone) return;
    registers_.set(thread_);
    if (vectors != nullptr) vectors->set(thread_);
    block_signals(signals);
}

StoppedThread::Event StoppedThread::wait_for_event(int request) {
    for (;;) {
        int status = 0;
        if (!wait_for_stop(&status)) {
            is_gone_ = true;
            return Event::gone;
        }
        if (status >> 16 == PTRACE_EVENT_STOP) return Event::stood;
        const int signal = WSTOPSIG(status);
        if (signal == kSyscallStop) return Event::call;
        if (signal != SIGSTOP) return Event::fault;
        held_signal_ = signal;
        if (!trace(request, thread_)) is_gone_ = true;
    }
}

std::optional<std::uint64_t> StoppedThread::blocked_signals() const {
    std::uint64_t signals = 0;
    if (::ptrace(static_cast<__ptrace_request>(PTRACE_GETSIGMASK), thread_, sizeof signals, &signals) != 0)
        return std::nullopt;
    return signals;
}

bool StoppedThread::block_signals(std::uint64_t signals) const {
    return ::ptrace(static_cast<__ptrace_request>(PTRACE_SETSIGMASK), thread_, sizeof signals, &signals) == 0;
}

bool StoppedThread::read(std::uint64_t address, void *to, std::size_t bytes) const {
    iovec own{to, bytes};
    iovec remote{reinterpret_cast<void *>(address), bytes};
    return ::process_vm_readv(process_, &own, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool StoppedThread::write(std::uint64_t address, const void *from, std::size_t bytes) const {
    iovec own{const_cast<void *>(from), bytes};
    iovec remote{reinterpret_cast<void *>(address), bytes};
    return ::process_vm_writev(process_, &own, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

}  // namespace gr::tool
