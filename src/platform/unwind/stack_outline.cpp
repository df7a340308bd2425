// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "platform/unwind/stack_outline.hpp"

#include <algorithm>

#include "platform/process.hpp"

namespace gr::platform {

bool StackOutline::Walk::pass(const Passed &call) {
    if (outline_.answers(call, &known_)) {
        is_answered_ = true;
        return true;
    }
    if (steps_ % gap_ == 0) remember(call);
    last_[steps_ % kOutermost] = call;
    ++steps_;
    return false;
}

// If there is no room, every second of the remembered calls is dropped.
void StackOutline::Walk::remember(const Passed &call) {
    if (seen_count_ == seen_.size()) {
        for (std::size_t i = 0; i < seen_.size() / 2; ++i) seen_[i] = seen_[2 * i];
        seen_count_ = seen_.size() / 2;
        gap_ *= 2;
        if (steps_ % gap_ != 0) return;
    }
    seen_[seen_count_++] = {call.code, call.stack, steps_};
}

std::size_t StackOutline::Walk::end() {
    std::size_t depth = steps_;
    if (is_answered_) {
        depth += outline_.landmarks_[known_].depth;
        ++known_;  // the call itself
    } else {
        known_ = 0;
        outline_.outermost_ = std::min(steps_, kOutermost);
        for (std::size_t i = 0; i < outline_.outermost_; ++i) {
            const Passed &call = last_[(steps_ - outline_.outermost_ + i) % kOutermost];
            outline_.codes_[i] = call.code;
            outline_.kept_at_[i] = call.kept_at;
        }
    }
    outline_.landmark_count_ = known_;
    for (std::size_t i = seen_count_; i-- != 0;)
        outline_.landmarks_[outline_.landmark_count_++] = {seen_[i].code, seen_[i].stack, depth - seen_[i].step};
    outline_.keep_apart(depth);
    return depth;
}

// Stack pointers fall from the outermost call to the innermost. Where they do not, fewer calls are found, and none is wrong.
bool StackOutline::answers(const Passed &call, std::size_t *known) const {
    const auto begin = landmarks_.begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(landmark_count_);
    const auto at = std::partition_point(begin, end, [&](const Landmark &one) { return one.stack > call.stack; });
    if (at == end || at->stack != call.stack || at->code != call.code || !outermost_are_there()) return false;
    *known = static_cast<std::size_t>(at - begin);
    return true;
}

// They lie close together, so that the kernel is asked for a few pages only.
bool StackOutline::outermost_are_there() const {
    constexpr std::uintptr_t kPageBytes = 4096;  // at least
    std::uintptr_t readable = UINTPTR_MAX;       // a page
    for (std::size_t i = 0; i < outermost_; ++i) {
        const std::uintptr_t page = kept_at_[i] / kPageBytes;
        if (page != readable && !is_readable(kept_at_[i])) return false;
        readable = page;
        if (*reinterpret_cast<const std::uintptr_t *>(kept_at_[i]) != codes_[i]) return false;
    }
    return outermost_ == kOutermost;
}

// Drops landmarks that are close to the one further out. The others fit into the first half.
void StackOutline::keep_apart(std::size_t depth) {
    const std::size_t least = depth / kLandmarks + 1;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < landmark_count_; ++i) {
        const Landmark &one = landmarks_[i];
        const bool is_first = one.depth > kOutermost && kept == 0;
        if (is_first || (kept != 0 && one.depth >= landmarks_[kept - 1].depth + least)) landmarks_[kept++] = one;
    }
    landmark_count_ = kept;
}

}  // namespace gr::platform
