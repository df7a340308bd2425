// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the tasks that are marked and not yet scanned: each marker has a stack of segments, and all markers share full
//    segments.
// Invariant: a task that was pushed is popped once, by any marker. A segment belongs to one marker, to the full
//    segments or to the blank segments. Only memory bounds the depth; push() says where it ends.
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
    std::uint32_t count;  // valid while no marker has the segment
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
    // nullptr: there is no full segment now.
    Segment *take_full();
    // Called by any thread: until begin(), no task is wanted any more. Markers soon drop what they have.
    void abandon() { abandoned_.store(true, std::memory_order_seq_cst); }
    bool is_abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
    // Hints; ordered by nothing.
    bool has_full() const { return full_count_.load(std::memory_order_relaxed) != 0; }
    // Whether a marker has nothing to do and there is no full segment for it.
    bool is_hungry() const { return idle_.load(std::memory_order_relaxed) != 0 && !has_full(); }

    // The first marker calls begin() and end(); other markers may join in between, at most so many are woken. end()
    // returns when all others have left.
    void begin(std::uint32_t most_others);
    // Called by any thread: all helpers may be woken.
    void hurry() { most_others_.store(UINT32_MAX, std::memory_order_relaxed); }
    void end();
    // false: the marking is over, or has not begun.
    bool join();
    void leave();
    // A marker without tasks waits until there is a full segment (true), or until all markers wait (false): then
    // everything is marked.
    bool wait();
    // A helper sleeps until a marker has worked for a while.
    void sleep_until_called();
    void call() {
        if (sleepers_.load(std::memory_order_relaxed) != 0 &&
            present_.load(std::memory_order_relaxed) < most_others_.load(std::memory_order_relaxed))
            call_one();
    }
    // In fork's child, which has only the calling thread.
    void forget_others();

    // While no thread marks. Returns the memory except so many segments.
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
    // seq_cst, all three pair with each other: the last marker that waits sees all others, and a helper that joins late
    // sees that the marking is over.
    std::atomic<std::uint32_t> idle_{0};
    platform::FutexWord present_{0};  // markers except the first
    platform::FutexWord over_{1};     // 1: everything is marked
    std::atomic<std::uint32_t> sleepers_{0};
    platform::FutexWord calls_{0};
    std::atomic<std::uint32_t> most_others_{0};  // ordered by nothing
    std::atomic<bool> abandoned_{false};         // seq_cst where it changes: pairs with IncrementalCollection
};

// One marker's own stack.
class Work {
  public:
    explicit Work(Worklist &shared) : shared_(shared) {}
    ~Work();
    Work(const Work &) = delete;
    Work &operator=(const Work &) = delete;

    // Behind the last task. The inner loop keeps a copy of it and writes it back.
    Task *top() const { return top_; }
    void set_top(Task *top) { top_ = top; }
    bool is_full(const Task *top) const { return top == end_; }
    bool is_empty(const Task *top) const { return top == first_; }
    // false: no memory for it.
    [[nodiscard]] bool make_room();
    // false: neither the marker nor the shared worklist has a task.
    [[nodiscard]] bool find_more();
    // Gives all tasks to the shared worklist; or drops them.
    void give_all();
    void drop_all();

    // false: no memory for it.
    [[nodiscard]] bool push(Task task) {
        if (is_full(top_) && !make_room()) [[unlikely]]
            return false;
        *top_++ = task;
        return true;
    }
    // Called now and then. Wakes a helper, and gives away half of the tasks to a marker without work: the deepest
    // tasks, because they lead to the most work.
    void share() {
        if (++asked_ % kAskedToCall == 0) shared_.call();
        if (shared_.is_abandoned()) [[unlikely]]
            return drop_all();
        if (shared_.is_hungry()) [[unlikely]]
            feed();
    }

  private:
    static constexpr std::uint32_t kAskedToCall = 64;  // calls of share() between two wakes of a helper

    void take(Segment *segment, std::uint32_t count);
    Segment *seal();
    void feed();

    Worklist &shared_;
    Segment *segment_ = nullptr;  // being filled and emptied: first_ <= top_ <= end_
    Task *top_ = nullptr;
    Task *first_ = nullptr;
    Task *end_ = nullptr;
    Segment *rest_ = nullptr;  // full segments below
    std::uint32_t asked_ = 0;
};

}  // namespace gr
