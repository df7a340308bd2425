// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: when the next collection is due: as soon as the heap would grow beyond what a policy planned after the last one.
// Invariant: between two collections that are due at least three eighths of the planned growth are allocated, however
//    much of the heap is free memory that does not serve.
// Must not know: how it is collected; who allocates.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/config.hpp"
#include "collector/pace_policy.hpp"

namespace gr {

class Pace {
  public:
    constexpr Pace() = default;

    // Under a lock, as all that is no question.
    void learn(const Found &found) {
        now_.marked.learn(found.live(), found.nanoseconds);
        now_.due = due_at();
        const Plan plan = plan_by(policy_, found, now_);
        now_.allowed = now_.allowed > plan.enough ? now_.allowed : plan.enough;
        growth_ = plan.growth;
        limit_ = found.limit;
        due_at_.store(plan.due, std::memory_order_relaxed);
        room_.store(plan.due - found.held, std::memory_order_relaxed);
        is_reconsidered_.store(false, std::memory_order_relaxed);
    }
    // Once between two collections, where the next is due. If the free blocks in held units do not have the sizes that the
    // program wants, the heap has grown although little was allocated. A collection would find little then, so it becomes
    // due later, by what is missing of the planned growth. What was allocated counts for more than it is, because a heap
    // that was put off is larger. `allocated`: bytes since the last collection, less what was freed; `nanoseconds`: CPU
    // time of the process in which they were allocated, or 0.
    void reconsider(std::size_t held, std::size_t allocated, std::uint64_t nanoseconds) {
        is_reconsidered_.store(true, std::memory_order_relaxed);
        now_.allocated.learn(allocated, nanoseconds);
        const std::size_t counted = allocated * kWeight / kWeightUnit;
        const std::size_t due = held + (growth_ > counted ? growth_ - counted : 0);
        if (due <= due_at() + growth_ / kSlackParts) return;
        put_off(due - due_at());
    }
    bool is_reconsidered() const { return is_reconsidered_.load(std::memory_order_relaxed); }
    bool is_due(std::size_t held) const { return held >= due_at_.load(std::memory_order_relaxed); }
    std::size_t due_at() const { return due_at_.load(std::memory_order_relaxed); }
    const std::atomic<std::size_t> *due_cell() const { return &due_at_; }
    // What units may take from the last collection to the next.
    std::size_t room() const { return room_.load(std::memory_order_relaxed); }
    // A collection beside the program begins so early that it should end where it is due, by what the last one took.
    void learn_growth_beside(std::size_t bytes) { growth_beside_.store(bytes, std::memory_order_relaxed); }
    bool is_due_beside(std::size_t held) const {
        const std::size_t least = room() / kEarlyParts;
        const std::size_t early = growth_beside_.load(std::memory_order_relaxed) + least;
        return held >= due_at() - (early < room() - least ? early : room() - least);
    }
    // And from here on the program has to wait for it.
    bool is_late_beside(std::size_t held) const { return held >= due_at() + room() / kLateParts; }
    // After a collection that could not be done: the next one is likely to fail, too, so tries become ever rarer.
    void put_off_failed(std::size_t held) {
        const std::size_t part = held / kPutOffParts;
        due_at_.store(held + (part < policies::kLeast ? policies::kLeast : part), std::memory_order_relaxed);
    }
    // The next collection is due so many bytes later. By anyone.
    void put_off(std::size_t bytes) {
        due_at_.fetch_add(bytes, std::memory_order_relaxed);
        room_.fetch_add(bytes, std::memory_order_relaxed);
    }
    // From now on the program may hold so much before a collection is due, within the limit.
    void set_size(std::size_t bytes) {
        now_.size = bytes;
        const std::size_t due = bytes < limit_ ? bytes : limit_;
        if (due > due_at()) put_off(due - due_at());
    }

    // From the next collection on.
    void set_policy(GcPolicy policy) { policy_ = policy; }
    bool needs_time() const { return policy_ == GcPolicy::square_root; }
    // The larger, the less memory and the more collections.
    void set_divisor(std::size_t divisor) { now_.divisor = divisor == 0 ? 1 : divisor; }
    // Of the growth between two collections.
    void set_least_growth(std::size_t bytes) { now_.least_growth = bytes; }

    // Nobody collects while it is above 0; and not unasked while `automatic` is false.
    std::atomic<int> disabled{0};       // ordered by nothing
    std::atomic<bool> automatic{true};  // ordered by nothing
    // Bytes in units; with so many the heap grows no more unless a collection frees some. Ordered by nothing.
    std::atomic<std::size_t> most{SIZE_MAX};

  private:
    static constexpr std::size_t kSlackParts = 8;
    static constexpr std::size_t kWeight = 9;  // of a byte that was allocated, in parts of kWeightUnit
    static constexpr std::size_t kWeightUnit = 4;
    static constexpr std::size_t kEarlyParts = 4;
    static constexpr std::size_t kLateParts = 8;
    static constexpr std::size_t kPutOffParts = 4;

    // Until the first collection, what a small heap gets.
    static constexpr std::size_t kFirst = policies::kLeast;

    GcPolicy policy_ = GcPolicy::proportional;
    Circumstances now_;
    std::size_t growth_ = kFirst;               // bytes, planned by the last collection
    std::size_t limit_ = SIZE_MAX;              // bytes held, found by the last collection
    std::atomic<bool> is_reconsidered_{false};  // ordered by nothing
    std::atomic<std::size_t> due_at_{kFirst};   // bytes held; ordered by nothing
    std::atomic<std::size_t> room_{kFirst};     // bytes, from what was held to where it is due; ordered by nothing
    // Bytes, while the last collection went on beside the program; ordered by nothing.
    std::atomic<std::size_t> growth_beside_{0};
};

}  // namespace gr
