// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a thread's ring: where its next record goes, and when the recorder is told.
// Invariant: only the thread and its signal handlers write here. A handler's records come behind what it interrupts,
//    which reserved its place first, and whoever was interrupted in writing publishes both: what is published is whole.
// Must not know: which calls are recorded, and when.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "platform/counter.hpp"
#include "recorder/attachment.hpp"
#include "recorder/records.hpp"
#include "recorder/sampling.hpp"

namespace gr {

class Writer {
  public:
    // What the thread does; or the number of an arrival: nothing now, and it has a ring of that arrival.
    static constexpr std::uint32_t kNotReady = ~std::uint32_t{0};
    static constexpr std::uint32_t kCalling = kNotReady - 1;  // the allocator works for it
    static constexpr std::uint32_t kWriting = kNotReady - 2;  // a record has a place and is not whole

    constexpr Writer() = default;

    std::uint32_t state() const { return state_.load(std::memory_order_relaxed); }
    [[gnu::always_inline]] void set_state(std::uint32_t state) {
        std::atomic_signal_fence(std::memory_order_seq_cst);
        state_.store(state, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    // The number of the arrival that this has a ring of.
    std::uint32_t arrival() const { return arrival_; }
    // What the state is when nothing is done: some recordings are for the slow path only.
    std::uint32_t ready_state() const { return ready_state_; }

    // Takes a ring of the process as it is now; false: nothing can be recorded now. Waits for the recorder.
    bool attach();

    // Each recorded call counts itself, and may then be one to be timed.
    [[gnu::always_inline]] void count_call() { --until_timed_; }
    bool is_timed() const { return until_timed_ <= 0; }
    void draw_timed();
    // Each allocation counts its bytes, and may then be one to have a stack.
    [[gnu::always_inline]] void count_bytes(std::uint64_t size) { until_stack_ -= static_cast<std::int64_t>(size); }
    bool is_stack_due() const { return until_stack_ < 0; }
    // false: none is wanted.
    bool draw_stack();

    // All while the state is kWriting. Nobody else was writing when this began: `is_outermost`, as on the fast path.
    [[gnu::always_inline]] void put(const gr_record &record) {
        std::uint64_t at = platform::add_alone(position_, 1);
        if (at >= limit_) [[unlikely]] {
            at = make_place(at, 1, true);
            if (at == kNowhere) return;
        }
        records_[at & mask_] = record;
    }
    [[gnu::always_inline]] void put(const gr_record &first, const gr_record &second) {
        std::uint64_t at = platform::add_alone(position_, 2);
        if (at + 1 >= limit_) [[unlikely]] {
            at = make_place(at, 2, true);
            if (at == kNowhere) return;
        }
        records_[at & mask_] = first;
        records_[(at + 1) & mask_] = second;
    }
    // false: it is lost.
    bool put(std::span<const gr_record> group, bool is_outermost);

    // What was written is the recorder's; then the state is that. A handler that came between them is not left out.
    [[gnu::always_inline]] void publish(std::uint32_t state) {
        for (;;) {
            const std::uint64_t written = position_.load(std::memory_order_relaxed);
            publish_up_to(written);
            set_state(state);
            if (position_.load(std::memory_order_relaxed) == written) [[likely]]
                return;
            set_state(kWriting);
        }
    }

  private:
    static constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

    // Release: pairs with the recorder's acquire.
    [[gnu::always_inline]] void publish_up_to(std::uint64_t position) {
        std::atomic_ref(ring_->head).store(position, std::memory_order_release);
    }
    std::uint64_t make_place(std::uint64_t at, std::uint64_t count, bool is_outermost);
    bool give_back(std::uint64_t at, std::uint64_t count);
    bool wait_for_tail(std::uint64_t tail);
    void set_limit(std::uint64_t end, std::uint64_t tail);

    void count_lost() { std::atomic_ref(ring_->lost).store(lost() + 1, std::memory_order_relaxed); }
    std::uint64_t lost() const { return std::atomic_ref(ring_->lost).load(std::memory_order_relaxed); }

    bool take_ring();
    bool find_ring(std::uint32_t thread);
    bool is_own_ring(const gr_recording_ring &ring, std::uint32_t thread);
    void use_ring(std::uint32_t place, std::uint32_t thread);

    std::atomic<std::uint32_t> state_{kNotReady};  // ordered by nothing: the thread's own
    std::uint32_t arrival_ = kUnknown;
    std::atomic<std::uint64_t> position_{0};  // records ever reserved; ordered by nothing
    std::uint64_t limit_ = 0;                 // up to it there is room, and nobody need be told
    gr_record *records_ = nullptr;
    std::uint64_t mask_ = 0;
    gr_recording_ring *ring_ = nullptr;
    std::int64_t until_stack_ = 0;
    std::int64_t until_timed_ = 0;
    std::uint64_t told_ = 0;  // the recorder, of so many records
    std::uint32_t ready_state_ = kNotReady;
    std::uint32_t without_ring_ = 0;  // calls until one is looked for again
    Dice dice_;
};

inline thread_local constinit Writer own_writer;

}  // namespace gr
