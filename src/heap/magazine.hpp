// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a heap's slab as its slow path sees it, and how its magazines' capacities adapt.
// Invariant: under the heap's lock. The sum of capacity * size over the heap's own magazines is at most the budget. The
//    budget doubles only after so many denials that the saved time is worth the memory. A header is published over
//    zeroes; it moves to other slots only while it is empty. limit = begin + capacity, unless detached.
// Must not know: superblocks.
#pragma once

#include <atomic>
#include <span>
#include <utility>

#include "base/size_class.hpp"
#include "heap/message.hpp"
#include "platform/rseq/reference.hpp"
#include "platform/rseq/sequences.hpp"

namespace gr {

// The slab of one concurrency id, which sequences find through `found_at`. With sequences, an operation may find that
// the caller has moved to another CPU, or may be aborted too often. It then moves nothing and returns a negative
// result.
class Slab {
  public:
    Slab(char *slabs, std::uint32_t cid, char *const *found_at)
        : memory_(slabs + std::size_t{cid} * kSlabBytes), cid_(cid), found_at_(found_at) {}

    std::int64_t push_n(std::uint32_t header, void *const *blocks, std::uint32_t count) {
        if (found_at_ == nullptr) return platform::ReferenceSlab(memory_).push_n(header, blocks, count);
        return retry([&] { return platform::gr_sequence_push_n(cid_, header, blocks, count, found_at_); });
    }
    std::int64_t pop_n(std::uint32_t header, void **blocks, std::uint32_t count) {
        if (found_at_ == nullptr) return platform::ReferenceSlab(memory_).pop_n(header, blocks, count);
        return retry([&] { return platform::gr_sequence_pop_n(cid_, header, blocks, count, found_at_); });
    }
    // Pushes each block into its own magazine; a block with header 0 goes into none. Returns how many blocks stay.
    // These are at the front of `blocks` afterwards.
    std::uint32_t push_each(void **blocks, const std::uint32_t *headers, std::uint32_t count) {
        if (found_at_ == nullptr) return platform::ReferenceSlab(memory_).push_each(blocks, headers, count);
        return platform::gr_sequence_push_each(cid_, blocks, headers, count, found_at_);
    }
    // Without sequences only.
    bool push(std::uint32_t header, void *p) { return platform::ReferenceSlab(memory_).push(header, p); }
    void *pop(std::uint32_t header) { return platform::ReferenceSlab(memory_).pop(header); }
    bool is_top(std::uint32_t header, const void *p) { return platform::ReferenceSlab(memory_).is_top(header, p); }

    // Publishes the header with this capacity, or moves its limit. A magazine moves to other slots only while it is
    // empty. false: not done.
    bool set_capacity(std::uint32_t header, std::uint32_t slots_begin, std::uint32_t capacity);
    platform::MagazineHeader header(std::uint32_t header) const {
        return platform::as_header(std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t *>(memory_ + header))
                                       .load(std::memory_order_relaxed));
    }

    // Whether any magazine holds a block. A hint: other threads may work on the slab meanwhile.
    bool has_blocks() const;
    // Only while the sequences are stopped. Detaches the blocks of all magazines: a magazine that held blocks has no
    // capacity any more. Until forget_detached, its blocks are for the holder of the heap's lock.
    void detach_all();
    // Only while the sequences are stopped. Empties all magazines and forgets their blocks.
    void drop_all();
    // Only while the sequences are stopped. Leaves no capacity to a magazine that is empty or detached.
    void close(std::uint32_t header_at);
    bool has_detached() const;
    std::span<void *> detached(std::uint32_t header) const;
    void forget_detached(std::uint32_t header);

    // What a slot contains now. Other threads may work on the slab meanwhile.
    const void *peek(std::uint32_t header, std::size_t index) const {
        return std::atomic_ref<void *>(*slot(header, index)).load(std::memory_order_relaxed);
    }

    // A slot's number counts from the slab's first slot; an index in a header counts from that header.
    static std::uint16_t index_from(std::uint32_t header, std::uint32_t slot) {
        const std::size_t offset = platform::kSlotsOffset - platform::kSlotDisplacement - header;
        return static_cast<std::uint16_t>(offset / sizeof(void *) + slot);
    }

  private:
    void **slot(std::uint32_t header, std::size_t index) const {
        return reinterpret_cast<void **>(memory_ + header + platform::kSlotDisplacement) + index;
    }
    void set_header(std::uint32_t header, platform::MagazineHeader value);

    template <class Operation>
    static std::int64_t retry(Operation operation) {
        constexpr auto kAborted = static_cast<std::int64_t>(platform::SequenceResult::aborted);
        std::int64_t result = kAborted;
        for (unsigned i = 0; i < kSequenceRetries && result == kAborted; ++i) result = operation();
        return result;
    }

    char *memory_;
    std::uint32_t cid_;
    char *const *found_at_;  // nullptr: only the holder of the heap's lock works on the slab
};

inline constexpr std::uint32_t kRemoteSlotsBegin = kMagazineSlotsTotal + 1;
static_assert(platform::kSlotsOffset + (kRemoteSlotsBegin + kRemoteMagazineSlots) * sizeof(void *) + sizeof(Outbox) <=
                  kSlabBytes,
              "the remote slots and the outbox lie inside the slab");

constexpr std::uint32_t magazine_of(ClassIndex c) { return platform::header_offset(c.value); }
inline constexpr std::uint32_t kNoMagazine = platform::header_offset(0);  // no block of size 0 is ever cached
inline constexpr std::uint32_t kRemoteMagazine = platform::header_offset(platform::kRemoteHeader);

// How many of `blocks` blocks move in one batch.
constexpr std::uint32_t batch_of(std::uint32_t blocks) { return blocks < kBatchBlocks ? blocks : kBatchBlocks; }

// Capacities of one heap's magazines.
class MagazinePolicy {
  public:
    std::uint32_t capacity(ClassIndex c) const { return state_[c.value].capacity; }
    std::size_t bytes() const { return bytes_; }

    // The class ran empty or full: the capacity that it should get. The budget was `first` at first and never becomes
    // more than `most`. Returns the present capacity if the magazine may not grow.
    std::uint32_t wanted(ClassIndex c, std::size_t first, std::size_t most) const {
        const ClassShape &shape = shape_of(c);
        const std::uint32_t now = capacity(c);
        std::uint32_t next = now == 0 ? first_capacity(shape) : now * 2;
        if (next > shape.magazine_slots) next = shape.magazine_slots;
        const std::size_t doubled = first << doublings_;
        const bool fits = bytes_ + std::size_t{next - now} * shape.size <= (doubled < most ? doubled : most);
        return fits ? next : now;
    }
    // A class stayed narrow because the budget did not allow more.
    void note_denied() {
        if (doublings_ == kBudgetDoublings || ++denials_ < kDenialsForMore << doublings_) return;
        denials_ = 0;
        ++doublings_;
    }
    void note_use(ClassIndex c) { state_[c.value].quiet = state_[c.value].unused = false; }
    void set_capacity(ClassIndex c, std::uint32_t capacity) {
        bytes_ += std::size_t{capacity} * shape_of(c).size;
        bytes_ -= std::size_t{state_[c.value].capacity} * shape_of(c).size;
        state_[c.value].capacity = static_cast<std::uint16_t>(capacity);
        set_hand(c, 0);
    }
    // Looks at the next class in turn. Returns the class if its share should be halved, because nothing happened to it
    // since its last turn; else class 0. One class for each call, so that a class in steady use has time to show its
    // use.
    ClassIndex next_quiet(ClassIndex but) {
        hand_ = hand_ + 1 < kClassCount ? hand_ + 1 : 1;
        State &state = state_[hand_];
        if (state.capacity * size_of_class(ClassIndex(hand_)) <= kMagazineFloorBytes || hand_ == but.value)
            return ClassIndex(0);
        return std::exchange(state.quiet, true) ? ClassIndex(hand_) : ClassIndex(0);
    }
    // The next class in turn if nothing happened to it since its last turn here; else class 0.
    ClassIndex next_unused(ClassIndex but) {
        unused_hand_ = unused_hand_ + 1 < kClassCount ? unused_hand_ + 1 : 1;
        if (unused_hand_ == but.value) return ClassIndex(0);
        return std::exchange(state_[unused_hand_].unused, true) ? ClassIndex(unused_hand_) : ClassIndex(0);
    }
    // Where the next look at the magazine begins, from its first slot.
    std::uint32_t hand(ClassIndex c) const { return state_[c.value].hand; }
    void set_hand(ClassIndex c, std::uint32_t slot) { state_[c.value].hand = static_cast<std::uint16_t>(slot); }
    bool is_valid() const {
        std::size_t total = 0;
        for (std::uint32_t c = 1; c < kClassCount; ++c)
            total += std::size_t{state_[c].capacity} * shape_of(ClassIndex(c)).size;
        return total == bytes_;
    }

  private:
    static constexpr std::uint32_t first_capacity(const ClassShape &shape) {
        if (std::size_t{shape.size} * kMagazineFirstSlots <= kMagazineFirstBytes) return kMagazineFirstSlots;
        return static_cast<std::uint32_t>(divide_up(kMagazineFirstBytes, shape.size));
    }
    struct State {
        std::uint16_t capacity;
        std::uint16_t hand;
        bool quiet;
        bool unused;
    };
    State state_[kClassCount];
    std::uint32_t hand_;
    std::uint32_t unused_hand_;
    std::uint32_t denials_;
    unsigned doublings_;
    std::size_t bytes_;
};

}  // namespace gr
