// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stops threads of this process without a signal, and reads their registers: by ptrace, from a process that
//    exists for the length of a stop and shares this one's memory.
// Invariant: what is stopped stands until let_go(). An interrupted system call goes on then as if nothing had been,
//    unless the kernel ends it and it has a limit of time.
// Must not know: which threads are to be stopped, and why.
#pragma once

#include <sys/types.h>
#include <sys/user.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/futex.hpp"
#include "platform/world/mapped_list.hpp"
#include "platform/world/range.hpp"

namespace gr::platform {

struct TracedThread {
    enum class Answer : std::uint8_t { none, stopped, gone, refused };
    static constexpr std::size_t kVectorBytes = 3 * 1024;  // of the state that has AVX-512's registers

    std::uint32_t id;
    Answer answer;
    bool may_be_on_stack_for_signals;  // it blocks a signal, as a handler mostly does
    bool is_repeated;                  // its call, when it goes on
    int signal;                        // that it was about to handle; 0: none
    std::uintptr_t thread_pointer;
    user_regs_struct general;
    alignas(void *) char vector[kVectorBytes];

    const char *stack_pointer() const;  // below all that the thread has on its stack
    Range registers() const { return {reinterpret_cast<const char *>(&general), &vector[0] + kVectorBytes}; }
};

class Tracer {
  public:
    constexpr Tracer() = default;

    // false: no memory.
    bool ask(std::uint32_t id);
    // Stops those that were asked for since the last call, and gives each its answer. Waits until they stand. false: the
    // process that traces was killed, and what it had stopped goes on.
    bool stop_asked();
    // From the first that the last call answered on.
    std::span<const TracedThread> answers() const { return threads_.all().subspan(first_answered_); }
    std::span<const TracedThread> all() const { return threads_.all(); }
    void let_go();
    // After let_go(): waits until the process that traces is gone.
    void end();

  private:
    enum : std::uint32_t { kIsDone, kStops, kLetsGo };

    bool begin_process();
    bool is_process_there() const;
    bool hand_over(std::uint32_t work);
    bool is_of_parent(std::uint32_t id) const;
    void find_ended();
    bool permit();
    void refuse_unanswered();

    // In the process. It has no thread-local storage of its own, so it calls nothing of libc's.
    static int run(void *self);
    void serve();
    void stop_new();
    void let_all_go();

    MappedList<TracedThread> threads_;
    std::size_t first_answered_ = 0;
    char *stack_ = nullptr;
    pid_t process_ = 0;  // 0: none
    unsigned parent_ = 0;
    bool is_permitted_ = false;  // the process, by this one
    // What the process is to do. release by the one that hands over, with the acquire of the one that is waiting
    FutexWord work_{kIsDone};
};

}  // namespace gr::platform
