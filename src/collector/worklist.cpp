// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/worklist.hpp"

#include <cstring>
#include <utility>

#include "platform/events.hpp"

namespace gr {
namespace {

constexpr unsigned kLooks = 1000;
constexpr unsigned kMillisecondsToLook = 1;

}  // namespace

Segment *Worklist::pop(Segment *&first) {
    Segment *const segment = first;
    if (segment != nullptr) first = segment->next;
    return segment;
}

void Worklist::push(Segment *&first, Segment *segment) {
    segment->next = first;
    first = segment;
}

Segment *Worklist::take_blank() {
    mutex_.lock_always(platform::Rank::worklist);
    Segment *segment = pop(blank_);
    if (segment != nullptr) --blank_count_;
    mutex_.unlock(platform::Rank::worklist);
    return segment != nullptr ? segment : static_cast<Segment *>(platform::map(Segment::kBytes, 1));
}

void Worklist::give_blank(Segment *segment) {
    mutex_.lock_always(platform::Rank::worklist);
    push(blank_, segment);
    ++blank_count_;
    mutex_.unlock(platform::Rank::worklist);
}

void Worklist::give_full(Segment *segment) {
    mutex_.lock_always(platform::Rank::worklist);
    push(full_, segment);
    full_count_.fetch_add(1, std::memory_order_relaxed);
    mutex_.unlock(platform::Rank::worklist);
}

Segment *Worklist::take_full() {
    if (!has_full()) return nullptr;
    mutex_.lock_always(platform::Rank::worklist);
    Segment *segment = nullptr;
    do {
        if (segment != nullptr) {
            push(blank_, segment);
            ++blank_count_;
        }
        segment = pop(full_);
        if (segment != nullptr) full_count_.fetch_sub(1, std::memory_order_relaxed);
    } while (segment != nullptr && is_abandoned());
    mutex_.unlock(platform::Rank::worklist);
    return segment;
}

void Worklist::shrink(std::size_t keep) {
    mutex_.lock_always(platform::Rank::worklist);
    Segment *gone = nullptr;
    for (; blank_count_ > keep; --blank_count_) push(gone, pop(blank_));
    mutex_.unlock(platform::Rank::worklist);
    while (Segment *const segment = pop(gone)) platform::unmap(segment, Segment::kBytes);
}

Work::~Work() {
    if (segment_ != nullptr) shared_.give_blank(segment_);
}

void Work::take(Segment *segment, std::uint32_t count) {
    segment_ = segment;
    first_ = &segment->tasks[0];
    top_ = first_ + count;
    end_ = first_ + Segment::kTasks;
}

// Returns nullptr if the marker has no segment.
Segment *Work::seal() {
    if (segment_ != nullptr) segment_->count = static_cast<std::uint32_t>(top_ - first_);
    return segment_;
}

bool Work::make_room() {
    Segment *const blank = shared_.take_blank();
    if (blank == nullptr) return false;
    if (Segment *const full = seal()) {
        platform::count(platform::Event::stack_outgrown);
        full->next = rest_;
        rest_ = full;
    }
    take(blank, 0);
    return true;
}

bool Work::find_more() {
    Segment *const more = rest_ != nullptr ? std::exchange(rest_, rest_->next) : shared_.take_full();
    if (more == nullptr) return false;
    if (segment_ != nullptr) shared_.give_blank(segment_);
    take(more, more->count);
    return true;
}

void Work::give_all() {
    while (rest_ != nullptr) shared_.give_full(std::exchange(rest_, rest_->next));
    if (Segment *const own = seal()) {
        if (own->count != 0) {
            shared_.give_full(own);
        } else {
            shared_.give_blank(own);
        }
    }
    segment_ = nullptr;
    top_ = first_ = end_ = nullptr;
}

void Work::drop_all() {
    while (rest_ != nullptr) shared_.give_blank(std::exchange(rest_, rest_->next));
    top_ = first_;
}

// Gives away the oldest segment; if there is only one, its older half.
void Work::feed() {
    if (rest_ != nullptr) {
        Segment **oldest = &rest_;
        while ((*oldest)->next != nullptr) oldest = &(*oldest)->next;
        platform::count(platform::Event::work_given);
        return shared_.give_full(std::exchange(*oldest, nullptr));
    }
    const auto count = static_cast<std::uint32_t>(top_ - first_);
    if (count < 2) return;
    Segment *const half = shared_.take_blank();
    if (half == nullptr) return;
    half->count = count / 2;
    std::memcpy(&half->tasks[0], first_, half->count * sizeof(Task));
    std::memmove(first_, first_ + half->count, (count - half->count) * sizeof(Task));
    top_ -= half->count;
    platform::count(platform::Event::work_given);
    shared_.give_full(half);
}

void Worklist::begin(std::uint32_t most_others) {
    most_others_.store(most_others, std::memory_order_relaxed);
    abandoned_.store(false, std::memory_order_seq_cst);
    idle_.store(0, std::memory_order_seq_cst);
    over_.store(0, std::memory_order_seq_cst);
}

void Worklist::end() {
    over_.store(1, std::memory_order_seq_cst);
    platform::wake_all(over_);
    while (const std::uint32_t present = present_.load(std::memory_order_seq_cst))
        platform::sleep_on_for(present_, present, kMillisecondsToLook);
}

bool Worklist::join() {
    present_.fetch_add(1, std::memory_order_seq_cst);
    if (over_.load(std::memory_order_seq_cst) == 0) return true;
    leave();
    return false;
}

void Worklist::leave() {
    if (present_.fetch_sub(1, std::memory_order_seq_cst) == 1) platform::wake_one(present_);
}

// Looks for a short while, then sleeps, because other threads need the CPU.
bool Worklist::wait() {
    const std::uint32_t waiting = idle_.fetch_add(1, std::memory_order_seq_cst) + 1;
    if (waiting == present_.load(std::memory_order_seq_cst) + 1 && !has_full()) {
        over_.store(1, std::memory_order_seq_cst);
        platform::wake_all(over_);
        return false;
    }
    for (unsigned looks = 0;; ++looks) {
        if (over_.load(std::memory_order_acquire) != 0) return false;
        if (has_full()) break;
        if (looks < kLooks) {
            platform::pause();
        } else {
            platform::sleep_on_for(over_, 0, kMillisecondsToLook);
        }
    }
    idle_.fetch_sub(1, std::memory_order_seq_cst);
    return true;
}

void Worklist::sleep_until_called() {
    const std::uint32_t seen = calls_.load(std::memory_order_acquire);
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    while (calls_.load(std::memory_order_acquire) == seen) platform::sleep_on(calls_, seen);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
}

void Worklist::call_one() {
    calls_.fetch_add(1, std::memory_order_release);
    platform::wake_one(calls_);
}

void Worklist::forget_others() {
    present_.store(0, std::memory_order_relaxed);
    sleepers_.store(0, std::memory_order_relaxed);
    over_.store(1, std::memory_order_relaxed);
}

}  // namespace gr
