// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the policy on huge pages: which chunks may lie in one, and when one more may be made.
// Invariant: one huge page is one chunk. Making huge pages takes at most one part in kHugeTimeParts of the time of the
//    program's threads.
// Must not know: superblocks; how full a chunk is.
#pragma once

#include <atomic>

#include "base/config.hpp"
#include "base/units.hpp"
#include "platform/clock.hpp"
#include "platform/process.hpp"
#include "region/region.hpp"

namespace gr {

enum class HugePolicy : std::uint8_t { never, automatic, always };

// Tells which party makes huge pages of chunks. nobody: no party does. forbidden: no party does, and the kernel is told
// not to. us: the allocator does. kernel_later: the kernel does, once the heap is large.
enum class HugePageMaker : std::uint8_t { nobody, forbidden, kernel, us, kernel_later };
HugePageMaker huge_page_maker(HugePolicy policy, platform::HugePagesFor whom);

// Any thread may call any function at any time. What is said of a chunk is a hint. Only next_ orders memory.
class HugePages {
  public:
    static constexpr std::size_t kBytesPerChunk = sizeof(std::uint8_t);

    // `memory`: zeroed, chunks * kBytesPerChunk bytes.
    void initialise(char *memory, Region &region, HugePageMaker maker);

    bool may_be_huge(ChunkIndex c) const {
        const State s = state(c).load(std::memory_order_relaxed);
        return s == State::huge || (s == State::unknown && maker_.load(std::memory_order_relaxed) == Maker::kernel);
    }
    // Units of the chunk have become empty.
    void was_released(ChunkIndex c) { replace(c, State::settling, State::unknown); }
    // A part of the chunk was returned to the OS.
    void was_split(ChunkIndex c) { state(c).store(State::split, std::memory_order_relaxed); }

    // For slow paths to ask: whether make_one should be called now.
    bool is_due(std::size_t used_bytes) const {
        return may_make(used_bytes) && platform::rough_nanoseconds() >= not_before();
    }
    bool may_make(std::size_t used_bytes) const {
        return used_bytes >= kHugeHeapBytes && maker_.load(std::memory_order_relaxed) >= Maker::us;
    }
    std::uint64_t not_before() const { return next_.load(std::memory_order_relaxed); }
    // Visits the next chunks, lowest first, until one was made huge. Does nothing while another thread visits.
    // is_dense(chunk): hardly any of the chunk is absent. A chunk has settled when it was dense at two visits and no
    // unit of it was released between them.
    template <class IsDense>
    void make_one(std::uint32_t chunks, IsDense is_dense) {
        if (!begin()) return;
        const std::uint64_t began = platform::nanoseconds();
        visit(chunks, is_dense);
        end(next_visit(began, cursor_ >= chunks));
    }
    // Called by the background thread once a tick, so that no call of the program waits. is_due is false for the other
    // threads unless the background thread is late.
    template <class IsDense>
    void make_some(std::uint32_t chunks, IsDense is_dense) {
        if (!begin()) return;
        for (unsigned n = 0; n < kHugePagesPerTick && cursor_ < chunks; ++n) visit(chunks, is_dense);
        if (cursor_ >= chunks) cursor_ = 0;
        end(platform::nanoseconds() + kTicksToLate * kTickNanoseconds);
    }

    // In fork's child, which does not have a thread that was visiting in the parent.
    void forget_visitor() {
        std::uint64_t turn = kBusy;
        next_.compare_exchange_strong(turn, 0, std::memory_order_relaxed);
    }

  private:
    using Maker = HugePageMaker;
    enum class State : std::uint8_t { unknown, settling, huge, split };
    static constexpr std::uint64_t kBusy = UINT64_MAX;
    static constexpr std::uint32_t kChunksPerVisit = 64;
    static constexpr std::uint64_t kTickNanoseconds = kTickMilliseconds * kNanosecondsPerMillisecond;
    static constexpr unsigned kTicksToLate = 2;

    bool begin() {
        std::uint64_t turn = next_.load(std::memory_order_relaxed);
        // acquire: pairs with the release in end, for cursor_, round_began_ and halvings_.
        return turn != kBusy && next_.compare_exchange_strong(turn, kBusy, std::memory_order_acquire);
    }
    void end(std::uint64_t next) { next_.store(next, std::memory_order_release); }
    template <class IsDense>
    void visit(std::uint32_t chunks, IsDense is_dense) {
        if (maker_.load(std::memory_order_relaxed) == Maker::kernel_later) leave_to_kernel();
        const bool ours = maker_.load(std::memory_order_relaxed) == Maker::us;
        for (std::uint32_t visits = 0; ours && visits < kChunksPerVisit && cursor_ < chunks; ++visits) {
            const ChunkIndex c(cursor_++);
            if (!is_wanted(c) || !settles(c, is_dense(c))) continue;
            collapse(c);
            break;
        }
    }

    std::atomic_ref<State> state(ChunkIndex c) const { return std::atomic_ref<State>(states_[c.value]); }
    void replace(ChunkIndex c, State from, State to) {
        if (state(c).load(std::memory_order_relaxed) == from) state(c).store(to, std::memory_order_relaxed);
    }
    void leave_to_kernel();
    bool is_wanted(ChunkIndex c) const { return state(c).load(std::memory_order_relaxed) != State::huge; }
    bool settles(ChunkIndex c, bool dense);
    void collapse(ChunkIndex c);
    void note_duration(std::uint64_t nanoseconds);
    std::uint64_t next_visit(std::uint64_t began, bool round_is_over);

    Region *region_ = nullptr;
    State *states_ = nullptr;
    std::atomic<Maker> maker_{Maker::nobody};
    std::atomic<std::uint64_t> next_{0};  // time of the next visit in nanoseconds; kBusy while a thread visits
    // Only the visiting thread uses these.
    std::uint32_t cursor_ = 0;
    std::uint64_t round_began_ = 0;
    unsigned halvings_ = 0;  // how often the part of the time is halved
};

}  // namespace gr
