// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one thread of another process, stopped by ptrace; the other threads run.
// Invariant: at the end the thread goes on where it was stopped: a system call is made again, unless a signal has come,
//    and each signal that came meanwhile is delivered. All of it is done by the thread that made this.
// Must not know: why it is stopped.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "commands/record/attach/machine/machine.hpp"

namespace gr::tool {

class StoppedThread {
  public:
    struct Stopped {
        std::unique_ptr<StoppedThread> thread;  // nullptr: it cannot be stopped
        int error = 0;                          // by the kernel's word
    };
    // Waits until it stands.
    [[nodiscard]] static Stopped stop(int process, int thread);
    ~StoppedThread();
    StoppedThread(const StoppedThread &) = delete;
    StoppedThread &operator=(const StoppedThread &) = delete;

    [[nodiscard]] int id() const { return thread_; }
    [[nodiscard]] const Registers &registers() const { return registers_; }
    // A signal (SIGSTOP) has stopped the process.
    [[nodiscard]] bool is_in_stopped_process() const { return is_in_stopped_process_; }
    // The thread's sequence that the kernel restarts at another place, if it is inside one.
    [[nodiscard]] bool is_in_restartable_sequence() const;

    // What it did after it was let go.
    enum class Event {
        call,   // a system call begins or ends
        stood,  // it was told to
        fault,  // its code made an error
        gone,
    };
    [[nodiscard]] Event run_to_call();
    // Its system calls do not stop it.
    [[nodiscard]] Event run_to_fault();
    // It runs one instruction and stands again, as if it had been stopped there. A signal that comes first is delivered.
    // false: it is gone, or stands in or before a system call, which may take any time.
    [[nodiscard]] bool step();
    // It stands where the first stop, or the last step, found it, with these signals blocked; no vectors: they have not changed.
    void set_back(std::uint64_t signals, const VectorRegisters *vectors);

    // Whether the process ignores the signal.
    [[nodiscard]] bool ignores(int signal) const;
    // The signals that it does not get; nothing where it is gone.
    [[nodiscard]] std::optional<std::uint64_t> blocked_signals() const;
    bool block_signals(std::uint64_t signals) const;
    [[nodiscard]] bool read(std::uint64_t address, void *to, std::size_t bytes) const;
    [[nodiscard]] bool write(std::uint64_t address, const void *from, std::size_t bytes) const;

  private:
    StoppedThread(int process, int thread) : process_(process), thread_(thread) {}
    [[nodiscard]] bool wait_for_first_stop();
    [[nodiscard]] bool wait_for_stop(int *status) const;
    [[nodiscard]] Event run(int request);
    [[nodiscard]] Event run_to_event(int request);
    // The request makes it go on where the event is none of these.
    [[nodiscard]] Event wait_for_event(int request);
    [[nodiscard]] Event stand();
    [[nodiscard]] bool has_signal() const;
    [[nodiscard]] std::uint64_t signals_in_status(std::string_view name) const;
    void repeat_call_that_only_the_stop_ended();

    int process_;
    int thread_;
    Registers registers_;
    bool is_in_stopped_process_ = false;
    bool is_gone_ = false;
    int held_signal_ = 0;  // one that cannot be blocked
};

}  // namespace gr::tool
