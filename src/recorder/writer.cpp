// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: writer.hpp, but for the fast path.
// Invariant: head never goes back, and stands at no record that is not whole. Who cannot wait, loses and counts.
// Must not know: which calls are recorded, and when.
#include "recorder/writer.hpp"

#include <pthread.h>

#include <algorithm>

#include "platform/ipc/shared_memory.hpp"
#include "platform/signals_held.hpp"
#include "recorder/recording.hpp"
#include "recorder/taken_stack.hpp"

namespace gr {
namespace {

constexpr std::uint64_t kBellParts = 4;  // of a ring
constexpr unsigned kRingMilliseconds = 1;
constexpr unsigned kRingAttempts = 100;
constexpr std::uint32_t kCallsWithoutRing = 1000;
constexpr unsigned kTailPatienceMilliseconds = 100;
constexpr std::size_t kNameBytes = 16;

}  // namespace

void Writer::draw_timed() {
    const std::uint32_t mean = recording.control().timed_calls;
    until_timed_ = mean == 0 ? INT64_MAX : static_cast<std::int64_t>(dice_.even(mean));
}

bool Writer::draw_stack() {
    const std::uint64_t mean = recording.control().stack_bytes;
    std::int64_t until = INT64_MAX;
    if (mean > 1) until = static_cast<std::int64_t>(dice_.exponential(mean));
    if (mean == 1) until = -1;
    until_stack_ = until;  // one store: between two, the call of a signal handler would find no stack due
    return mean != 0;
}

bool Writer::put(std::span<const gr_record> group, bool is_outermost) {
    std::uint64_t at = platform::add_alone(position_, group.size());
    if (at + group.size() > limit_) at = make_place(at, group.size(), is_outermost);
    if (at == kNowhere) return false;
    for (const gr_record &record : group) records_[at++ & mask_] = record;
    return true;
}

// Only the last that reserved can; a handler that did so behind it had room, and so has this.
bool Writer::give_back(std::uint64_t at, std::uint64_t count) {
    std::uint64_t end = at + count;
    return position_.compare_exchange_strong(end, at, std::memory_order_relaxed);
}

void Writer::set_limit(std::uint64_t end, std::uint64_t tail) {
    const std::uint64_t part = (mask_ + 1) / kBellParts;
    limit_ = std::min(tail + mask_ + 1, (end / part + 1) * part);
    if (end / part == told_ / part) return;
    told_ = end;
    recording.ring_bell();
}

std::uint64_t Writer::make_place(std::uint64_t at, std::uint64_t count, bool is_outermost) {
    std::uint64_t all = count;  // and a record of what was lost
    if (lost() != 0 && give_back(at, count)) {
        all = count + 1;
        at = platform::add_alone(position_, all);
    }
    std::uint64_t tail = 0;
    for (;;) {
        // Acquire: pairs with the recorder's release, after which it reads those records no more.
        tail = std::atomic_ref(ring_->tail).load(std::memory_order_acquire);
        if (at + all - tail <= mask_ + 1) break;
        if (is_outermost) publish_up_to(at);
        const std::uint64_t published = std::atomic_ref(ring_->head).load(std::memory_order_relaxed);
        if (recording.is_lossy() || at + all - published > mask_ + 1) {
            if (!give_back(at, all)) continue;
            count_lost();
            limit_ = at;
            return kNowhere;
        }
        if (!wait_for_tail(tail)) return kNowhere;
    }
    set_limit(at + all, tail);
    if (all == count) return at;
    const std::uint64_t untold = std::atomic_ref(ring_->lost).exchange(0, std::memory_order_relaxed);
    records_[at & mask_] = record_of(Kind::lost, nullptr, untold, recording.now());
    return at + 1;
}

bool Writer::wait_for_tail(std::uint64_t tail) {
    const std::atomic_ref waits(ring_->waits);
    waits.store(1, std::memory_order_relaxed);
    recording.ring_bell();
    // Pairs with the recorder's, between its tail and its look at waits.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (std::atomic_ref(ring_->tail).load(std::memory_order_relaxed) != tail) return true;
    // The lower half comes first.
    auto *const word = reinterpret_cast<std::uint32_t *>(&ring_->tail);
    const bool woken = platform::sleep_on_shared(word, static_cast<std::uint32_t>(tail), kTailPatienceMilliseconds);
    waits.store(0, std::memory_order_relaxed);
    if (woken || recording.recorder_lives()) return true;
    Attachment::give_up();
    return false;
}

bool Writer::attach() {
    if (without_ring_ != 0) {
        --without_ring_;
        recording.count_lost();
        return false;
    }
    const platform::SignalsHeld held;
    const std::uint32_t number = attachment.number();
    if (number < kFirstArrival) return false;
    if (!take_ring()) {
        without_ring_ = kCallsWithoutRing;
        recording.count_lost();
        return false;
    }
    arrival_ = number;
    ready_state_ = recording.has_counter() ? number : kNotReady;
    return true;
}

bool Writer::take_ring() {
    const std::uint32_t thread = platform::own_thread_id();
    for (unsigned attempt = 0; attempt < kRingAttempts; ++attempt) {
        if (find_ring(thread)) return true;
        recording.ring_bell();
        if (recording.is_lossy()) return false;
        platform::sleep_for(kRingMilliseconds);
    }
    return false;
}

// Of a thread of this process that had the same number and is gone, or nobody's, which it takes.
bool Writer::is_own_ring(const gr_recording_ring &ring, std::uint32_t thread) {
    auto &owner = const_cast<std::uint32_t &>(ring.thread);
    std::uint32_t now = std::atomic_ref(owner).load(std::memory_order_relaxed);
    // Acquire: pairs with the recorder's release, after which the ring is empty.
    if (now == 0 && std::atomic_ref(owner).compare_exchange_strong(now, thread, std::memory_order_acquire)) return true;
    return now == thread && ring.process == attachment.place();
}

bool Writer::find_ring(std::uint32_t thread) {
    for (std::uint32_t place = 0; place < recording.control().rings; ++place) {
        if (!is_own_ring(recording.ring(place), thread)) continue;
        const std::atomic_ref count(recording.control().ring_count);
        std::uint32_t known = count.load(std::memory_order_relaxed);
        while (known <= place && !count.compare_exchange_weak(known, place + 1, std::memory_order_release)) {
        }
        use_ring(place, thread);
        return true;
    }
    return false;
}

void Writer::use_ring(std::uint32_t place, std::uint32_t thread) {
    const std::span<const std::byte> stacks =
        recording.control().stack_bytes == 0 ? std::span<const std::byte>() : begin_stacks(place);
    ring_ = &recording.ring(place);
    ring_->process = attachment.place();
    ring_->waits = 0;
    records_ = recording.records(place);
    mask_ = recording.control().ring_records - 1;
    const std::uint64_t head = ring_->head;
    position_.store(head, std::memory_order_relaxed);
    told_ = head;
    limit_ = head;
    dice_.seed(recording.now() ^ std::uint64_t{thread} << 32);
    draw_timed();
    draw_stack();
    char name[kNameBytes];
    platform::own_thread_name(&name[0]);
    Group group;
    group.add_text(Kind::name, &name[0], recording.now());
    group.add(record_of(Kind::thread_stack, &name[0], pthread_self(), recording.now()));
    for (const std::span<const std::byte> memory : {stack_walk.memory(), stacks}) {
        if (!memory.empty()) group.add(record_of(Kind::own_memory, memory.data(), memory.size(), recording.now()));
    }
    put(group.records(), true);
    publish_up_to(position_.load(std::memory_order_relaxed));
}

}  // namespace gr
