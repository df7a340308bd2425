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

class RemoteCalls {
  public:
    // The address is that of system_call_code() in the process. Throws Failure.
    RemoteCalls(StoppedThread &thread, std::uint64_t instruction);
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
    [[nodiscard]] Registers registers();
    [[noreturn]] void fail();

    StoppedThread &thread_;
    std::uint64_t instruction_;
    VectorRegisters vectors_;
    std::uint64_t signals_ = 0;
    std::uint64_t memory_ = 0;  // the text at its beginning, the stack at its end
    bool is_gone_ = false;
};

}  // namespace gr::tool
