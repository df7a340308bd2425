// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: local heaps entered by restartable sequences (LFMalloc 3.1.1), which Linux calls rseq: no lock, no atomic.
// Invariant: as LockedHeaps. A sequence that was preempted, moved to another CPU or interrupted starts over. So it
//    never goes on with values that it read before another thread was on that CPU: no A-B-A, and what it reads is there
//    (3.1.5). Without rseq these are LockedHeaps by CPU.
// Must not know: where superblocks come from.
#pragma once

#include <concepts>

#include "parts/lfmalloc/compare_and_swap.hpp"
#include "parts/lfmalloc/local_heaps.hpp"

namespace gr::lab {

// sequences_*.S; the twins are LocalList's and LockedHeaps's functions. `heaps`: where it stands where they lie. A
// thread whose rseq is not registered is refused.
extern "C" {
void *gr_lab_sequence_pop(std::uint32_t bin, LocalHeap *const *heaps);
bool gr_lab_sequence_push(LocalList *list, void *block, LocalHeap *const *heaps);
}

template <WhichHeap Which>
class RestartableHeaps : public LockedHeaps<ByCpu> {
    static_assert(std::same_as<Which, ByCpu>, "restartable sequences exclude only threads on the same CPU: use ByCpu");

    using Without = LockedHeaps<ByCpu>;

  public:
    int heap_of_caller() const { return ByCpu::is_kept ? ByCpu::kept() : Without::heap_of_caller(); }
    void *pop(unsigned bin) {
        if (ByCpu::is_kept) [[likely]]
            return gr_lab_sequence_pop(bin, &heaps_);
        return Without::pop(bin);
    }
    bool push(LocalList *list, void *block) {
        if (ByCpu::is_kept) [[likely]]
            return gr_lab_sequence_push(list, block, &heaps_);
        return Without::push(list, block);
    }
    bool install(int heap, unsigned bin, LocalList *expected, LocalList *desired) {
        if (!ByCpu::is_kept) return Without::install(heap, bin, expected, desired);
        return compare_and_swap(heap, heaps_[heap].online[bin], expected, desired);
    }
    // For fork, whose child finds each list as the last commit left it.
    void lock() {
        if (!ByCpu::is_kept) Without::lock();
    }
    void unlock() {
        if (!ByCpu::is_kept) Without::unlock();
    }
};

}  // namespace gr::lab
