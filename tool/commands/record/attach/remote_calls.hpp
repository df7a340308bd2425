// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: system calls and calls of functions that a stopped thread makes for this command, on a stack of their own.
// Invariant: at the end the thread's registers and its blocked signals are as they were. Meanwhile it gets no signal.
// Must not know: what is called, and whether the thread may call it there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "commands/record/attach/machine/machine.hpp"
#include "commands/record/attach/stopped_thread.hpp"

namespace gr::tool {

// Addresses of instructions in the process that calls from outside need.
struct CallInstructions {
    std::uint64_t system_call = 0;      // system_call_code()
    std::optional<std::uint64_t> trap;  // trap_code(); nothing: each system call of a function stops the thread
};

class RemoteCalls {
  public:
    // Throws Failure.
    RemoteCalls(StoppedThread &thread, const CallInstructions &instructions);
    ~RemoteCalls();
    RemoteCalls(const RemoteCalls &) = delete;
    RemoteCalls &operator=(const RemoteCalls &) = delete;

    // As the kernel returns it. Throws Failure where the process is gone; so do the others.
    std::int64_t system_call(long number, const Arguments &arguments);
    std::uint64_t function(std::uint64_t address, const Arguments &arguments);
    // Where the text now stands in the process, until the next.
    std::uint64_t put(std::string_view text);
    // Up to its end or the most bytes.
    [[nodiscard]] std::string text_at(std::uint64_t address) const;

  private:
    void set(const Registers &registers);
    void run_to_call();
    void prepare_function(std::uint64_t address, const Arguments &arguments, std::uint64_t back);
    [[nodiscard]] std::uint64_t run_to_trap();
    [[nodiscard]] std::uint64_t run_from_call_to_call();
    [[nodiscard]] Registers registers();
    [[noreturn]] void fail();
    [[noreturn]] void fail_by_fault();

    StoppedThread &thread_;
    CallInstructions instructions_;
    std::uint64_t stack_ = 0;  // where a function finds the address to return to
    VectorRegisters vectors_;
    std::uint64_t signals_ = 0;
    std::uint64_t memory_ = 0;  // the text at its beginning, the stack at its end
    bool is_gone_ = false;
};

}  // namespace gr::tool
