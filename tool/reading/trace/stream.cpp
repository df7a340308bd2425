// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stream.hpp.
// Invariant: as there. A thread is either the current one, or due, or has no event any more.
// Must not know: what the events are wanted for.
#include "reading/trace/stream.hpp"

#include <limits>
#include <utility>

namespace gr::trace {

Stream::Stream(const Trace &trace, Time from) : from_(from), threads_(trace.threads().size()) {
    for (const EventBlock &block : trace.blocks()) {
        if (block.summary.events == 0 || Time{block.summary.last_time} < from) continue;
        if (block.summary.thread < threads_.size()) {
            threads_[block.summary.thread].blocks.push_back(&block);
        } else {
            left_out_ += block.summary.events;
        }
    }
    for (std::uint32_t i = 0; i < threads_.size(); ++i) wait_for(i);
}

// Until its turn a block stays compressed.
void Stream::wait_for(std::uint32_t number) {
    const Thread &thread = threads_[number];
    if (thread.reader != nullptr) {
        due_.push({thread.event.time, number});
    } else if (thread.next_block < thread.blocks.size()) {
        due_.push({Time{thread.blocks[thread.next_block]->summary.first_time}, number});
    }
}

bool Stream::turn() {
    if (current_ != nullptr) retire();
    while (!due_.empty()) {
        current_number_ = due_.top().thread;
        due_.pop();
        Thread &thread = threads_[current_number_];
        if (thread.reader == nullptr && !begin_block(thread)) continue;
        current_ = &thread;
        limit_ = due_.empty() ? Time{std::numeric_limits<std::uint64_t>::max()} : due_.top().time;
        return true;
    }
    return false;
}

// The first event of the next block that can be read.
bool Stream::begin_block(Thread &thread) {
    if (thread.reader == nullptr) {
        if (idle_.empty()) idle_.push_back(std::make_unique<BlockReader>());
        thread.reader = std::move(idle_.back());
        idle_.pop_back();
    }
    while (thread.next_block < thread.blocks.size()) {
        const EventBlock &block = *thread.blocks[thread.next_block++];
        try {
            thread.reader->begin(block);
            while (thread.reader->next(&thread.event)) {
                if (thread.event.time >= from_) return true;
            }
        } catch (const Damage &) {
            left_out_ += block.summary.events;
        }
    }
    idle_.push_back(std::move(thread.reader));
    return false;
}

bool Stream::advance(Thread &thread) {
    try {
        if (thread.reader->next(&thread.event)) return true;
    } catch (const Damage &) {
        ++left_out_;
    }
    // A block may begin much later than this one ended: others come first.
    idle_.push_back(std::move(thread.reader));
    return false;
}

void Stream::retire() {
    wait_for(current_number_);
    current_ = nullptr;
}

}  // namespace gr::trace
