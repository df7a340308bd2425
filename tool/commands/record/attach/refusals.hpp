// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: why a running process cannot be recorded.
// Invariant: the process is only looked at. Each refusal is one line and says what to do, where something can be done.
// Must not know: how a process is recorded.
#pragma once

#include <string>

#include "commands/record/attach/process_modules.hpp"
#include "commands/record/attach/stopped_thread.hpp"

namespace gr::tool {

[[noreturn]] void refuse_process(int process, const std::string &why);

// By what /proc says of the process. Throws Failure.
void check_process(int process);
// By what it has mapped. Throws Failure.
void check_modules(int process, const ProcessMemory &memory, const ProcessModules &modules, const std::string &library);
// By its filters of system calls. Throws Failure.
void check_filters(int process, const StoppedThread &thread);
// The kernel refused to trace it. Throws Failure.
[[noreturn]] void refuse_by_kernel(int process, int error);

}  // namespace gr::tool
