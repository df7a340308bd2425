// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stops all threads of the process except the caller for a moment, and tells where each was interrupted.
// Invariant: from stop() to resume() no stopped thread runs the program's code. All threads are stopped, also new ones,
//    except the exempt ones and those that block the signal. A stopped thread's registers lie on the stack where it was
//    interrupted, above its stack_pointer.
// Must not know: why they are stopped; what lies on a stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/futex.hpp"

namespace gr::platform {

struct StoppedThread {
    std::uint32_t id = 0;
    const char *stack_pointer = nullptr;  // below all that the thread has on the stack that it runs on
    std::uintptr_t thread_pointer = 0;
    bool is_on_stack_for_signals = false;  // that stack may lie anywhere, also in a frame of the thread's own stack
};

class World {
  public:
    constexpr World() = default;

    // Called once. Installs the handler of the signal, and unblocks the signal in the caller. false: refused.
    bool initialise(int signal);
    int signal() const { return signal_; }

    // Stops all threads but the caller and those in `exempt`. false, and no thread is stopped: there is no memory for
    // the list of threads, or /proc does not describe this process, or the kernel refuses a signal.
    bool stop(std::span<const std::uint32_t> exempt);
    void resume();
    // The stopped threads in turn, then nullptr. The caller is not among them.
    const StoppedThread *next_stopped(std::size_t *at) const { return next(at, kArrived); }
    // The threads that block the signal, in turn, then nullptr. They run on. Only their ids are known.
    const StoppedThread *next_unstoppable(std::size_t *at) const { return next(at, kUnstoppable); }
    std::uint32_t unstoppable() const { return unstoppable_; }
    std::uint32_t stopped() const { return arrived_.load(std::memory_order_relaxed); }

    // Called by the signal's handler.
    void arrive(const char *stack_pointer);

  private:
    struct Slot {
        std::atomic<std::uint32_t> id;     // 0: free; release, after the rest was set, with the acquire of slot_of()
        std::atomic<std::uint32_t> state;  // release on arrival, after `thread` was filled, with the acquire of next()
        StoppedThread thread;
    };
    // A hash table by id, with open addressing. An outgrown table stays mapped for handlers that read it late.
    struct Table {
        std::size_t count;  // a power of two
        Slot *slots() { return reinterpret_cast<Slot *>(this + 1); }
    };
    enum : std::uint32_t { kCalled, kArrived, kGone, kUnstoppable };
    enum class Round : std::uint8_t { found_some, found_none, failed };

    Round call_those_that_run(std::span<const std::uint32_t> exempt);
    static bool is_new_thread(const Slot &slot);
    void wait_for_called();
    void look_for_gone(unsigned looks);
    bool is_unstoppable(std::uint32_t id, unsigned looks) const;
    const StoppedThread *next(std::size_t *at, std::uint32_t state) const;
    // The slot that has the id or would get it; nullptr: there is no table.
    Slot *slot_of(std::uint32_t id) const;
    bool is_half_full() const;
    bool make_room();
    template <class Visit>
    void for_each_called(Visit visit) const;
    enum class Sent : std::uint8_t { yes, gone, refused };
    static Sent send(std::uint32_t id, int signal);

    // Odd while threads are to stand still. release, with the acquire of arrive(), where threads wait for the next
    // value.
    FutexWord epoch_{0};
    FutexWord arrived_{0};                 // how many threads; release, with the acquire of wait_for_called()
    std::atomic<Table *> table_{nullptr};  // release, with the acquire of handlers in slot_of()
    std::uint32_t called_ = 0;
    std::uint32_t gone_ = 0;  // or unstoppable: stop() does not wait for them
    std::uint32_t unstoppable_ = 0;
    int signal_ = 0;
};

extern World world;

}  // namespace gr::platform
