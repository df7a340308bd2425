// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stops all threads of the process except the caller for a moment, and tells where each was interrupted.
// Invariant: from stop() to resume() no stopped thread runs the program's code. All threads are stopped, also new ones,
//    except the exempt ones, those that rest, and those that block the signal and cannot be traced. A stopped thread's
//    registers lie on the stack where it was interrupted, above its stack_pointer, unless they are told apart.
// Must not know: why they are stopped; what lies on a stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "platform/futex.hpp"
#include "platform/world/known_thread.hpp"
#include "platform/world/tracer.hpp"

namespace gr::platform {

struct StoppedThread {
    std::uint32_t id = 0;
    const char *stack_pointer = nullptr;  // below all that the thread has on the stack that it runs on
    std::uintptr_t thread_pointer = 0;
    bool is_on_stack_for_signals = false;  // or may be: that stack may lie in a frame of the thread's own stack
    const char *stack_end = nullptr;       // as a known thread has told it
    std::uintptr_t handle = 0;             // pthread_t, of a known thread
    Range registers = {};                  // what the stack does not hold of them
};

class World {
  public:
    constexpr World() = default;

    // Called before the first stop. Installs the handler of the signal, and unblocks the signal in the caller. false: refused.
    bool initialise(int signal);
    int signal() const { return signal_; }
    // Before the first stop. false: no thread is traced, as where the kernel refuses it.
    void permit_tracing(bool is_permitted) { may_trace_ = is_permitted; }

    // What a thread tells of itself. No stop may begin meanwhile. The object stays where it is until it is removed.
    void add(KnownThread &thread);
    void remove(KnownThread &thread);
    // In fork's child: those of other threads. nullptr: there is none of the caller.
    void forget_known_but(KnownThread *of_caller);

    // Stops all threads but the caller and those in `exempt`. A thread that a signal's handler would wake from a wait
    // too early is traced instead, if the kernel permits it. false, and no thread is stopped: there is no memory for
    // the list of threads, or /proc does not describe this process, or the kernel refuses a signal.
    bool stop(std::span<const std::uint32_t> exempt);
    void resume();
    // The stopped threads in turn and those that rest, then nullptr. The caller is not among them.
    const StoppedThread *next_stopped(std::size_t *at) const {
        return next(at, [](std::uint32_t state) { return state == kArrived || state == kTraced || state == kRests; });
    }
    // The threads that block the signal and were not stopped, in turn, then nullptr. They run on. Only their ids are
    // known.
    const StoppedThread *next_unstoppable(std::size_t *at) const {
        return next(at, [](std::uint32_t state) { return state == kUnstoppable; });
    }
    std::uint32_t unstoppable() const { return unstoppable_; }
    // The id of one of them that did not sleep in the kernel; 0: there is none.
    std::uint32_t unseen() const { return unseen_; }
    std::uint32_t resting() const { return resting_; }
    // With those that rest.
    std::uint32_t stopped() const { return arrived_.load(std::memory_order_relaxed) + traced_ + resting_; }
    // The calling thread, but for its stack pointer.
    StoppedThread caller() const;

    // Called by the signal's handler.
    void arrive(const char *stack_pointer);

  private:
    struct Slot {
        std::atomic<std::uint32_t> id;     // 0: free; release, after the rest was set, with the acquire of slot_of()
        std::atomic<std::uint32_t> state;  // release on arrival, after `thread` was filled, with the acquire of next()
        StoppedThread thread;
        bool blocks_signal;
    };
    // A hash table by id, with open addressing. An outgrown table stays mapped for handlers that read it late.
    struct Table {
        std::size_t count;  // a power of two
        Slot *slots() { return reinterpret_cast<Slot *>(this + 1); }
    };
    enum : std::uint32_t { kCalled, kArrives, kArrived, kGone, kUnstoppable, kAsked, kTraced, kRests };
    enum class Round : std::uint8_t { found_some, found_none, failed };

    void begin_stop();
    void remember_blocking();
    bool hold_resting();
    bool stop_those_that_run(std::span<const std::uint32_t> exempt);
    void describe_stopped();
    Round call_those_that_run(std::span<const std::uint32_t> exempt);
    static bool is_new_thread(const Slot &slot);
    bool call(Slot &slot, std::uint32_t id);
    bool is_better_traced(Slot &slot, std::uint32_t id) const;
    bool send_signal(Slot &slot, std::uint32_t id);
    bool trace_asked(unsigned looks);
    bool take_answer(Slot &slot, const TracedThread &traced, unsigned looks);
    void take_refusal(Slot &slot, std::uint32_t id, unsigned looks);
    bool wait_for_called();
    void look_for_gone(unsigned looks);
    bool look_for_blocking(unsigned looks);
    bool is_unstoppable(const Slot &slot, std::uint32_t id, unsigned looks) const;
    template <class IsWanted>
    const StoppedThread *next(std::size_t *at, IsWanted is_wanted) const {
        Table *const table = table_.load(std::memory_order_relaxed);
        while (*at < table->count) {
            const Slot &slot = table->slots()[(*at)++];
            const bool is_used = slot.id.load(std::memory_order_relaxed) != 0;
            if (is_used && is_wanted(slot.state.load(std::memory_order_acquire))) return &slot.thread;
        }
        return nullptr;
    }
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
    std::uint32_t not_awaited_ = 0;  // of those called: gone, at rest, traced or unstoppable
    std::uint32_t traced_ = 0;
    std::uint32_t resting_ = 0;
    std::uint32_t unstoppable_ = 0;
    std::uint32_t unseen_ = 0;
    int signal_ = 0;
    KnownThread *known_ = nullptr;
    Tracer tracer_;
    bool may_trace_ = true;               // by the user's choice
    bool is_refused_ = false;             // in this stop, to trace a thread
    unsigned refusals_ = 0;               // of the tracer, one after the other
    MappedList<std::uint32_t> blocking_;  // the threads that blocked the signal in the last stop
};

extern World world;

}  // namespace gr::platform
