// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is marked and not yet scanned: a stack of each marker's own, in segments, and full segments for all.
// Invariant: what was pushed is popped once, by anybody; a segment is in one place: a marker's hands, the full ones or
//    the blank ones. Memory is what the depth of the graph needs; where it ends, push says so.
// Must not know: what a task is; who marks.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "collector/descriptor.hpp"
#include "platform/futex.hpp"
#include "platform/memory.hpp"
#include "platform/mutex.hpp"

namespace gr {

struct Segment {
    static constexpr std::size_t kBytes = 4096;
    static constexpr std::uint32_t kTasks = (kBytes - 2 * sizeof(void *)) / sizeof(Task);

    Segment *next;
    std::uint32_t count;  // while it is in no marker's hands
    Task tasks[kTasks];
};
static_assert(sizeof(Segment) <= Segment::kBytes, "a segment fits into the memory that is mapped for it");

// The segments that all markers share.
class Worklist {
  public:
    constexpr Worklist() = default;

    // nullptr: no memory.
    Segment *take_blank();
    void give_blank(Segment *segment);
    void give_full(Segment *segment);
    // nullptr: there is none now.
    Segment *take_full();
    // By anyone: what is on it is not wanted any more. Who has some of it lets go of it soon, until begin().
    void abandon() { abandoned_.store(true, std::memory_order_seq_cst); }
    bool is_abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
    // Hints; ordered by nothing.
    bool has_full() const { return full_count_.load(std::memory_order_relaxed) != 0; }
    // Somebody has nothing to do, and there is nothing for him.
    bool is_hungry() const { return idle_.load(std::memory_order_relaxed) != 0 && !has_full(); }

    // The first marker begins and ends a marking; others may come in between. end() returns when all have left.
    // Not more than so many others are called.
    void begin(std::uint32_t most_others);
    // By anyone: as many as there are.
    void hurry() { most_others_.store(UINT32_MAX, std::memory_order_relaxed); }
    void end();
    // false: it is over already, or has not begun.
    bool join();
    void leave();
    // A marker that found nothing waits until there is something (true) or all wait (false): then all is marked.
    bool wait();
    // Who may join sleeps until somebody has more to do than he soon will.
    void sleep_until_called();
    void call() {
        if (sleepers_.load(std::memory_order_relaxed) != 0 &&
            present_.load(std::memory_order_relaxed) < most_others_.load(std::memory_order_relaxed))
            call_one();
    }
    // In fork's child: nobody but the caller is left.
    void forget_others();

    // Nobody marks. Gives the memory back but for so many segments.
    void shrink(std::size_t keep);

  private:
    void call_one();
    static Segment *pop(Segment *&first);
    static void push(Segment *&first, Segment *segment);

    platform::Mutex mutex_;
    Segment *full_ = nullptr;
    Segment *blank_ = nullptr;
    std::size_t blank_count_ = 0;
    std::atomic<std::uint32_t> full_count_{0};  // changed under the lock
    // seq_cst, all three: the last to come sees all others, and who joins late sees that it is over.
    std::atomic<std::uint32_t> idle_{0};
    platform::FutexWord present_{0};  // but for the first
    platform::FutexWord over_{1};     // 1: all is marked
    std::atomic<std::uint32_t> sleepers_{0};
    platform::FutexWord calls_{0};
    std::atomic<std::uint32_t> most_others_{0};  // ordered by nothing
    std::atomic<bool> abandoned_{false};         // seq_cst where it changes: who begins after it was abandoned knows
};

// One marker's end of it.
class Work {
  public:
    explicit Work(Worklist &shared) : shared_(shared) {}
    ~Work();
    Work(const Work &) = delete;
    Work &operator=(const Work &) = delete;

    // Behind the task that was pushed last and is not popped. Who pushes and pops much keeps a copy of his own in its
    // place meanwhile.
    Task *top() const { return top_; }
    void set_top(Task *top) { top_ = top; }
    bool is_full(const Task *top) const { return top == end_; }
    bool is_empty(const Task *top) const { return top == first_; }
    // false: no memory for it.
    [[nodiscard]] bool make_room();
    // false: nothing is left, of its own or for all.
    [[nodiscard]] bool find_more();
    // Its own are for all from now on; or for nobody.
    void give_all();
    void drop_all();

    // false: no memory for it.
    [[nodiscard]] bool push(Task task) {
        if (is_full(top_) && !make_room()) [[unlikely]]
            return false;
        *top_++ = task;
        return true;
    }
    // Now and then: who sleeps is woken, and who has nothing to do gets half. What lies deepest goes, where most hangs on
    // each task.
    void share() {
        if (++asked_ % kAskedToCall == 0) shared_.call();
        if (shared_.is_abandoned()) [[unlikely]]
            return drop_all();
        if (shared_.is_hungry()) [[unlikely]]
            feed();
    }

  private:
    static constexpr std::uint32_t kAskedToCall = 64;  // so often, before a helper is woken

    void take(Segment *segment, std::uint32_t count);
    Segment *seal();
    void feed();

    Worklist &shared_;
    Segment *segment_ = nullptr;  // being filled and emptied: first_ <= top_ <= end_
    Task *top_ = nullptr;
    Task *first_ = nullptr;
    Task *end_ = nullptr;
    Segment *rest_ = nullptr;  // full ones below
    std::uint32_t asked_ = 0;
};

}  // namespace gr
