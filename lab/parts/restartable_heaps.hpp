// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: local heaps entered by restartable sequences (LFMalloc 3.1.1), which Linux calls rseq: no lock, no atomic.
// Invariant: as LockedHeaps. A sequence that was preempted, moved to another CPU or interrupted starts over, so nobody goes
//            on with what he read before another one was on that CPU: no A-B-A, and what he reads is there (3.1.5).
//            Without rseq these are LockedHeaps by CPU.
// Must not know: where superblocks come from.
#pragma once

#include <concepts>

#include "parts/local_heaps.hpp"

namespace gr::lab {

// What the sequences read. All zero: each refuses.
struct LabSequenceState {
    LocalHeap *heaps;
    std::uint64_t count;
    std::int64_t rseq_offset;
};

// sequences_*.S; the twins are LocalList's and LockedHeaps's functions. A thread whose rseq is not registered is refused.
extern "C" {
extern LabSequenceState gr_lab_sequence_state;

void *gr_lab_sequence_pop(std::uint32_t bin);
bool gr_lab_sequence_push(LocalList *list, void *block);
bool gr_lab_sequence_install(std::uint32_t cpu, std::uint32_t bin, LocalList *expected, LocalList *desired);
}

template <WhichHeap Which>
class RestartableHeaps {
    static_assert(std::same_as<Which, ByCpu>,
                  "a sequence keeps away only who is on its CPU: heaps are the CPUs' (ByCpu)");

  public:
    constexpr RestartableHeaps() = default;

    bool start() {
        if (!without_.start()) return false;
        if (ByCpu::has_area) gr_lab_sequence_state = {without_.heaps(), without_.count(), ByCpu::area.rseq_offset};
        return true;
    }
    int heap_of_caller() const {
        if (!has_sequences()) return without_.heap_of_caller();
        const int cpu = ByCpu::kept();
        return cpu < static_cast<int>(without_.count()) ? cpu : -1;
    }
    LocalList *online(int heap, unsigned bin) const { return without_.online(heap, bin); }
    void *pop(unsigned bin) {
        if (has_sequences()) [[likely]]
            return gr_lab_sequence_pop(bin);
        return without_.pop(bin);
    }
    bool push(LocalList *list, void *block) {
        if (has_sequences()) [[likely]]
            return gr_lab_sequence_push(list, block);
        return without_.push(list, block);
    }
    bool install(int heap, unsigned bin, LocalList *expected, LocalList *desired) {
        if (!has_sequences()) return without_.install(heap, bin, expected, desired);
        return gr_lab_sequence_install(static_cast<std::uint32_t>(heap), bin, expected, desired);
    }
    // fork's child finds each list as the last commit left it.
    void lock() { without_.lock(); }
    void unlock() { without_.unlock(); }

  private:
    static bool has_sequences() { return gr_lab_sequence_state.count != 0; }

    LockedHeaps<ByCpu> without_;
};

static_assert(LocalHeapsLike<RestartableHeaps<ByCpu>>);

}  // namespace gr::lab
