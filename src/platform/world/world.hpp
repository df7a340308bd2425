// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: all threads of the process but the caller's stopped for a moment, and where each was interrupted.
// Invariant: from stop() to resume() none of them runs a line of the program's, those that came meanwhile among them,
//    but who blocks the signal; their registers lie on the stack where they were interrupted, above the pointer that is
//    told.
// Must not know: why they are stopped; what lies on a stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/futex.hpp"

namespace gr::platform {

struct StoppedThread {
    std::uint32_t id = 0;
    const char *stack_pointer = nullptr;  // below all that it has on the stack that it runs on
    std::uintptr_t thread_pointer = 0;
    bool is_on_stack_for_signals = false;  // which may lie anywhere, in a frame of its own stack, too
};

class World {
  public:
    constexpr World() = default;

    // Once; the signal's handler is this one's from now on, and the caller does not block it. false: refused.
    bool initialise(int signal);
    int signal() const { return signal_; }

    // Neither the calling thread nor one of `exempt` is stopped. false: there is no memory for their list, or no /proc
    // that tells of this process, or the kernel takes no more signals, and nobody is stopped.
    bool stop(std::span<const std::uint32_t> exempt);
    void resume();
    // In turn until nullptr; the caller's own is not among them.
    const StoppedThread *next_stopped(std::size_t *at) const { return next(at, kArrived); }
    // Those that block the signal: they run on. Only their ids are known.
    const StoppedThread *next_unstoppable(std::size_t *at) const { return next(at, kUnstoppable); }
    std::uint32_t unstoppable() const { return unstoppable_; }
    std::uint32_t stopped() const { return arrived_.load(std::memory_order_relaxed); }

    // By the signal's handler.
    void arrive(const char *stack_pointer);

  private:
    struct Slot {
        std::atomic<std::uint32_t> id;     // 0: nobody's; release, after what it had before was cleared
        std::atomic<std::uint32_t> state;  // release when it has arrived: the thread's facts are there
        StoppedThread thread;
    };
    // By id, open addressing. One that is outgrown stays, for handlers that look late.
    struct Table {
        std::size_t count;  // a power of two
        Slot *slots() { return reinterpret_cast<Slot *>(this + 1); }
    };
    enum : std::uint32_t { kCalled, kArrived, kGone, kUnstoppable };
    enum class Round : std::uint8_t { found_some, found_none, failed };

    Round call_those_that_run(std::span<const std::uint32_t> exempt);
    void wait_for_called();
    void look_for_gone(unsigned looks);
    bool is_unstoppable(std::uint32_t id, unsigned looks) const;
    const StoppedThread *next(std::size_t *at, std::uint32_t state) const;
    // Where the id stands or would stand; nullptr: there is no table.
    Slot *slot_of(std::uint32_t id) const;
    bool is_half_full() const;
    bool make_room();
    template <class Visit>
    void for_each_called(Visit visit) const;
    enum class Sent : std::uint8_t { yes, gone, refused };
    static Sent send(std::uint32_t id, int signal);

    // Odd while threads are to stand still. release with the acquire of those that wait for the next.
    FutexWord epoch_{0};
    FutexWord arrived_{0};                 // how many; release, with the acquire of who waits for them
    std::atomic<Table *> table_{nullptr};  // release, with the acquire of handlers
    std::uint32_t called_ = 0;
    std::uint32_t gone_ = 0;  // or unstoppable: nobody waits for them
    std::uint32_t unstoppable_ = 0;
    int signal_ = 0;
};

extern World world;

}  // namespace gr::platform
