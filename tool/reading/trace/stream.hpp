// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the events of all threads of a trace, in the order of time.
// Invariant: a thread's events stay in its order; a time never comes before the one before. One block of each thread
//    that goes on at that time is in memory. A damaged block's events are left out, and counted, if any is not before
//    the begin.
// Must not know: what the events are wanted for.
#pragma once

#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

#include "reading/trace/reader.hpp"

namespace gr::trace {

class Stream {
  public:
    // Without those before that time: of blocks that end before it nothing is read.
    explicit Stream(const Trace &trace, Time from = Time{});

    // false: that was all.
    bool next(Event *event) {
        while (current_ == nullptr || current_->event.time > limit_) {
            if (!turn()) return false;
        }
        *event = current_->event;
        if (!advance(*current_)) retire();
        return true;
    }

    [[nodiscard]] std::uint64_t left_out() const { return left_out_; }

  private:
    struct Thread {
        std::vector<const EventBlock *> blocks;  // in order
        std::size_t next_block = 0;
        std::unique_ptr<BlockReader> reader;  // of the block before next_block, where it has begun
        Event event;                          // the next, where there is a reader
    };
    struct Due {
        Time time;
        std::uint32_t thread;
        // What comes first is the greatest.
        bool operator<(const Due &other) const {
            return time != other.time ? time > other.time : thread > other.thread;
        }
    };

    bool turn();
    bool advance(Thread &thread);
    bool begin_block(Thread &thread);
    void retire();
    void wait_for(std::uint32_t thread);

    Time from_;
    std::vector<Thread> threads_;
    std::priority_queue<Due> due_;
    Thread *current_ = nullptr;
    std::uint32_t current_number_ = 0;
    Time limit_;  // up to here it is the current thread's turn
    std::uint64_t left_out_ = 0;
    std::vector<std::unique_ptr<BlockReader>> idle_;
};

}  // namespace gr::trace
