// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: machine.hpp for x86-64.
// Invariant: as there. The red zone below the stack pointer is left alone, because calls have a stack of their own.
// Must not know: why the thread is stopped.
#include <elf.h>
#include <linux/audit.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

#include <cstring>

#include "commands/record/attach/machine/machine.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kWords = sizeof(user_regs_struct) / sizeof(std::uint64_t);
static_assert(kWords <= Registers::kMostWords, "the registers have room");

constexpr std::uint64_t kNoCall = ~std::uint64_t{0};
constexpr std::uint64_t kDirectionFlag = 0x400;
constexpr std::size_t kCallBytes = 2;
constexpr std::size_t kTrapBytes = 1;
constexpr std::size_t kMostVectorBytes = std::size_t{64} << 10;

constexpr std::size_t index_of(std::size_t offset) { return offset / sizeof(std::uint64_t); }
constexpr std::size_t kCode = index_of(offsetof(user_regs_struct, rip));
constexpr std::size_t kStack = index_of(offsetof(user_regs_struct, rsp));
constexpr std::size_t kResult = index_of(offsetof(user_regs_struct, rax));
constexpr std::size_t kCall = index_of(offsetof(user_regs_struct, orig_rax));
constexpr std::size_t kFlags = index_of(offsetof(user_regs_struct, eflags));
constexpr std::array<std::size_t, 6> kCallArguments = {
    index_of(offsetof(user_regs_struct, rdi)), index_of(offsetof(user_regs_struct, rsi)),
    index_of(offsetof(user_regs_struct, rdx)), index_of(offsetof(user_regs_struct, r10)),
    index_of(offsetof(user_regs_struct, r8)),  index_of(offsetof(user_regs_struct, r9))};
constexpr std::size_t kFourthOfFunction = index_of(offsetof(user_regs_struct, rcx));

// The type that the kernel takes for its request differs between libcs.
template <class Request>
bool trace(Request request, int thread, unsigned type, iovec *memory) {
    return ::ptrace(static_cast<__ptrace_request>(request), thread, type, memory) == 0;
}

}  // namespace

bool can_call_remotely() { return true; }
std::string_view system_call_code() { return "\x0f\x05"; }
std::string_view trap_code() { return "\xcc"; }
std::string_view signal_return_code() { return {"\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05", 9}; }

std::uint32_t filter_architecture() { return AUDIT_ARCH_X86_64; }

std::span<const long> older_waiting_calls() {
    static constexpr long kCalls[] = {SYS_poll, SYS_select, SYS_epoll_wait, SYS_pause};
    return kCalls;
}

std::span<const long> older_calls_that_any_stop_ends() {
    static constexpr long kCalls[] = {SYS_epoll_wait};
    return kCalls;
}

// Behind the word lie the flags and the link of the context (8 bytes each), its stack (24) and 16 registers.
std::uint64_t interrupted_place_offset() { return 8 + 8 + 8 + 24 + 16 * 8; }

std::optional<Registers> Registers::of(int thread) {
    Registers registers;
    iovec memory{registers.words_.data(), sizeof(user_regs_struct)};
    if (!trace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &memory)) return std::nullopt;
    return registers;
}

bool Registers::set(int thread) const {
    Registers copy = *this;
    iovec memory{copy.words_.data(), sizeof(user_regs_struct)};
    return trace(PTRACE_SETREGSET, thread, NT_PRSTATUS, &memory);
}

std::uint64_t Registers::code() const { return words_[kCode]; }
std::uint64_t Registers::stack() const { return words_[kStack]; }
std::int64_t Registers::result() const { return static_cast<std::int64_t>(words_[kResult]); }

std::optional<long> Registers::call() const {
    const auto number = static_cast<long>(words_[kCall]);
    return number < 0 ? std::nullopt : std::optional(number);
}

std::uint64_t Registers::argument(unsigned number) const { return words_[kCallArguments[number]]; }

void Registers::repeat_call() {
    words_[kResult] = words_[kCall];
    words_[kCode] -= kCallBytes;
    words_[kCall] = kNoCall;
}

void Registers::prepare_system_call(std::uint64_t instruction, long number, const Arguments &arguments) {
    for (std::size_t i = 0; i < arguments.size(); ++i) words_[kCallArguments[i]] = arguments[i];
    words_[kResult] = static_cast<std::uint64_t>(number);
    words_[kCode] = instruction;
    words_[kCall] = kNoCall;
}

void Registers::prepare_function(std::uint64_t function, std::uint64_t stack, const Arguments &arguments) {
    prepare_system_call(function, 0, arguments);
    words_[kFourthOfFunction] = arguments[3];
    words_[kStack] = stack;
    words_[kFlags] &= ~kDirectionFlag;
}

std::optional<std::uint64_t> Registers::returned_to_trap(std::uint64_t trap, std::uint64_t stack) const {
    if (words_[kCode] != trap + kTrapBytes || words_[kStack] != stack + sizeof(std::uint64_t)) return std::nullopt;
    return words_[kResult];
}

std::optional<std::uint64_t> Registers::returned_to_call(std::uint64_t instruction, std::uint64_t stack) const {
    if (words_[kCode] != instruction + kCallBytes || words_[kStack] != stack + sizeof(std::uint64_t))
        return std::nullopt;
    return words_[kCall];
}

void Registers::make_call_harmless() { words_[kCall] = SYS_gettid; }

std::optional<VectorRegisters> VectorRegisters::of(int thread) {
    VectorRegisters registers;
    registers.bytes_.resize(kMostVectorBytes);
    iovec memory{registers.bytes_.data(), registers.bytes_.size()};
    if (!trace(PTRACE_GETREGSET, thread, NT_X86_XSTATE, &memory)) return std::nullopt;
    registers.bytes_.resize(memory.iov_len);
    return registers;
}

bool VectorRegisters::set(int thread) const {
    std::vector<char> copy = bytes_;
    iovec memory{copy.data(), copy.size()};
    return trace(PTRACE_SETREGSET, thread, NT_X86_XSTATE, &memory);
}

}  // namespace gr::tool
