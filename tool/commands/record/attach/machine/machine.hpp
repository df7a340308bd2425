// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the registers of a stopped thread: where it is, and how it is made to call something.
// Invariant: what was read can be set again, and the thread goes on as if it had not been stopped.
// Must not know: why the thread is stopped.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace gr::tool {

// Whether a process of this machine can be made to call something.
[[nodiscard]] bool can_call_remotely();
// The machine code of a system call, of an instruction that sends its thread SIGTRAP, and of the return from a signal
// handler.
[[nodiscard]] std::string_view system_call_code();
[[nodiscard]] std::string_view trap_code();
[[nodiscard]] std::string_view signal_return_code();
// From the word on the stack that leads to the latter to the place that the signal interrupted.
[[nodiscard]] std::uint64_t interrupted_place_offset();

// As filters of system calls name the machine.
[[nodiscard]] std::uint32_t filter_architecture();
// System calls that wait and that newer machines no longer have; of these the ones that any stop of the thread ends.
[[nodiscard]] std::span<const long> older_waiting_calls();
[[nodiscard]] std::span<const long> older_calls_that_any_stop_ends();

using Arguments = std::array<std::uint64_t, 6>;

class Registers {
  public:
    static constexpr unsigned kMostWords = 34;

    // Nothing where the thread is gone.
    [[nodiscard]] static std::optional<Registers> of(int thread);
    // false: the thread is gone.
    bool set(int thread) const;

    [[nodiscard]] std::uint64_t code() const;
    [[nodiscard]] std::uint64_t stack() const;
    // The system call that the stop interrupted, or that has just ended; nothing: the thread runs its own code.
    [[nodiscard]] std::optional<long> call() const;
    [[nodiscard]] std::uint64_t argument(unsigned number) const;
    // What the call returns.
    [[nodiscard]] std::int64_t result() const;
    // The call is made again, instead of returning what it returns.
    void repeat_call();

    // A system call, at the address of system_call_code().
    void prepare_system_call(std::uint64_t instruction, long number, const Arguments &arguments);
    // A function that returns to trap_code() or system_call_code(), where the thread stops: the word at the top of the
    // stack leads there already.
    void prepare_function(std::uint64_t function, std::uint64_t stack, const Arguments &arguments);
    // Behind the trap: whether it is the one that the function returned to, and what it returned.
    [[nodiscard]] std::optional<std::uint64_t> returned_to_trap(std::uint64_t trap, std::uint64_t stack) const;
    // At the beginning of a system call: likewise.
    [[nodiscard]] std::optional<std::uint64_t> returned_to_call(std::uint64_t instruction, std::uint64_t stack) const;
    // Of a system call that begins: it does nothing.
    void make_call_harmless();

  private:
    std::array<std::uint64_t, kMostWords> words_{};
};

// The registers that functions use for numbers with a point and for vectors.
class VectorRegisters {
  public:
    [[nodiscard]] static std::optional<VectorRegisters> of(int thread);
    bool set(int thread) const;

  private:
    std::vector<char> bytes_;
};

}  // namespace gr::tool
