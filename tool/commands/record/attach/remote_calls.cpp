// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/attach/remote_calls.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <system_error>

#include "base/failure.hpp"

namespace gr::tool {

namespace {

constexpr std::uint64_t kMemoryBytes = 512 << 10;
constexpr std::uint64_t kTextBytes = 8 << 10;
constexpr std::uint64_t kMostErrors = 4095;

// All but those by which the kernel tells the thread of an error of its own.
std::uint64_t all_but_faults() {
    std::uint64_t signals = ~std::uint64_t{0};
    for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS})
        signals &= ~(std::uint64_t{1} << (signal - 1));
    return signals;
}

}  // namespace

RemoteCalls::RemoteCalls(StoppedThread &thread, const CallInstructions &instructions)
    : thread_(thread), instructions_(instructions) {
    // If the process ignores SIGTRAP, the trap would make the kernel forget that.
    if (thread.ignores(SIGTRAP)) instructions_.trap.reset();
    const std::optional<VectorRegisters> vectors = VectorRegisters::of(thread.id());
    const std::optional<std::uint64_t> signals = thread.blocked_signals();
    if (!vectors || !signals || !thread.block_signals(all_but_faults())) fail();
    vectors_ = *vectors;
    signals_ = *signals;
    constexpr std::uint64_t kProtection = PROT_READ | PROT_WRITE;
    constexpr std::uint64_t kFlags = MAP_PRIVATE | MAP_ANONYMOUS;
    const std::int64_t at = system_call(SYS_mmap, {0, kMemoryBytes, kProtection, kFlags, ~std::uint64_t{0}, 0});
    if (at < 0 && at >= -static_cast<std::int64_t>(kMostErrors)) {
        thread.set_back(signals_, nullptr);
        throw Failure(ExitCode::not_runnable,
                      fmt::format("the process gets no memory for a call of the recorder's library: {}",
                                  std::generic_category().message(static_cast<int>(-at))));
    }
    memory_ = static_cast<std::uint64_t>(at);
    stack_ = memory_ + kMemoryBytes - kTextBytes - sizeof(std::uint64_t);
}

RemoteCalls::~RemoteCalls() {
    if (is_gone_) return;
    try {
        system_call(SYS_munmap, {memory_, kMemoryBytes, 0, 0, 0, 0});
    } catch (const Failure &) {
        return;  // the process is gone
    }
    thread_.set_back(signals_, &vectors_);
}

void RemoteCalls::fail() {
    is_gone_ = true;
    throw Failure(ExitCode::not_runnable, "the process ended while the recorder's library was called in it");
}

void RemoteCalls::fail_by_fault() {
    thread_.set_back(signals_, &vectors_);
    is_gone_ = true;
    throw Failure(ExitCode::not_runnable,
                  "a call of the recorder's library in the process failed by a fault; the process continues");
}

Registers RemoteCalls::registers() {
    const std::optional<Registers> registers = Registers::of(thread_.id());
    if (!registers) fail();
    return *registers;
}

void RemoteCalls::set(const Registers &registers) {
    if (!registers.set(thread_.id())) fail();
}

void RemoteCalls::run_to_call() {
    switch (thread_.run_to_call()) {
        case StoppedThread::Event::call:
            return;
        case StoppedThread::Event::fault:
            fail_by_fault();
        default:
            fail();
    }
}

std::int64_t RemoteCalls::system_call(long number, const Arguments &arguments) {
    Registers registers = thread_.registers();
    registers.prepare_system_call(instructions_.system_call, number, arguments);
    set(registers);
    run_to_call();
    run_to_call();
    return this->registers().result();
}

// Stops cost more than what the loader and the recorder's library do between their system calls, and other threads may
// wait for a lock meanwhile. So the thread runs without a stop, where it can.
std::uint64_t RemoteCalls::function(std::uint64_t address, const Arguments &arguments) {
    prepare_function(address, arguments, instructions_.trap.value_or(instructions_.system_call));
    return instructions_.trap ? run_to_trap() : run_from_call_to_call();
}

void RemoteCalls::prepare_function(std::uint64_t address, const Arguments &arguments, std::uint64_t back) {
    if (!thread_.write(stack_, &back, sizeof back)) fail();
    Registers registers = thread_.registers();
    registers.prepare_function(address, stack_, arguments);
    set(registers);
}

std::uint64_t RemoteCalls::run_to_trap() {
    if (thread_.run_to_fault() != StoppedThread::Event::fault) fail();
    const std::optional<std::uint64_t> result = registers().returned_to_trap(*instructions_.trap, stack_);
    if (!result) fail_by_fault();
    return *result;
}

std::uint64_t RemoteCalls::run_from_call_to_call() {
    for (;;) {
        run_to_call();
        Registers registers = this->registers();
        if (const std::optional<std::uint64_t> result = registers.returned_to_call(instructions_.system_call, stack_)) {
            registers.make_call_harmless();
            set(registers);
            run_to_call();
            return *result;
        }
        run_to_call();
    }
}

std::uint64_t RemoteCalls::put(std::string_view text) {
    const std::string ended(text.substr(0, kTextBytes - 1));
    if (!thread_.write(memory_, ended.c_str(), ended.size() + 1)) fail();
    return memory_;
}

std::string RemoteCalls::text_at(std::uint64_t address) const {
    std::string text;
    for (char each = 0; text.size() < kTextBytes && thread_.read(address + text.size(), &each, 1) && each != '\0';)
        text += each;
    return text;
}

}  // namespace gr::tool
