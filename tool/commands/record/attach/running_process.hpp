// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a process that ran before the recorder: the recorder's library gets into it, and out of its way again.
// Invariant: one thread of the process stands from the constructor to attach(), and one during detach(). It stands where
//    it may call the loader. Whatever fails, the process continues as before.
// Must not know: what is recorded.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "commands/record/attach/remote_calls.hpp"
#include "commands/record/attach/stopped_thread.hpp"
#include "reading/process/process_memory.hpp"

namespace gr::tool {

class RunningProcess {
  public:
    // Throws Failure: it cannot be recorded, and why. The name is that of the memory to share.
    RunningProcess(std::uint32_t process, const std::string &library, const char *memory_name);
    ~RunningProcess();
    RunningProcess(const RunningProcess &) = delete;
    RunningProcess &operator=(const RunningProcess &) = delete;

    // The memory that it shares with the recorder, of no size yet: a descriptor of this process's, which it closes.
    [[nodiscard]] int shared_memory() const { return own_file_; }
    // Its calls are recorded from then on. Somebody has to let it arrive. Throws Failure.
    void attach();

  private:
    [[noreturn]] void fail(const std::string &why) const;
    void make_shared_memory(const char *name);
    void close_remote_file();
    [[nodiscard]] std::uint64_t load_library();

    int process_;
    std::string library_;
    ProcessMemory memory_;
    std::unique_ptr<StoppedThread> thread_;
    std::unique_ptr<RemoteCalls> calls_;
    int remote_file_ = -1;
    int own_file_ = -1;
};

// The process's calls lead to its allocator again. Throws Failure.
void detach_process(std::uint32_t process, const std::string &library);
// false: the process ends, and runs no code any more.
[[nodiscard]] bool has_memory(std::uint32_t process);

}  // namespace gr::tool
