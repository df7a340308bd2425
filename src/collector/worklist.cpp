// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: worklist.hpp.
// Invariant: as there.
// Must not know: what a task is; who marks.
#include "collector/worklist.hpp"

#include <utility>

namespace gr {

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
    if (segment == nullptr) segment = static_cast<Segment *>(platform::map(Segment::kBytes, 1));
    if (segment != nullptr) segment->count = 0;
    return segment;
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
    Segment *const segment = pop(full_);
    if (segment != nullptr) full_count_.fetch_sub(1, std::memory_order_relaxed);
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
    if (top_ != nullptr) shared_.give_blank(top_);
}

// The full one goes below, or to the others when they have none.
bool Work::next_segment() {
    Segment *const blank = shared_.take_blank();
    if (blank == nullptr) return false;
    if (Segment *const full = std::exchange(top_, blank)) {
        full->next = rest_;
        rest_ = full;
        if (!shared_.has_full()) share();
    }
    return true;
}

bool Work::previous_segment() {
    Segment *const more = rest_ != nullptr ? std::exchange(rest_, rest_->next) : shared_.take_full();
    if (more == nullptr) return false;
    if (Segment *const empty = std::exchange(top_, more)) shared_.give_blank(empty);
    return true;
}

void Work::share() {
    while (rest_ != nullptr) shared_.give_full(std::exchange(rest_, rest_->next));
}

}  // namespace gr
