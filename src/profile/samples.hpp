// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the table of the sampled blocks that are live, by address.
// Invariant: takes no lock. An address is in the table exactly while its block is live and not forgotten. Only one
//    thread can take a sample out.
// Must not know: what a sample is counted as.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.hpp"

namespace gr {

struct Sample {
    std::uint64_t size = 0;
    std::uint32_t site = 0;
    std::uint32_t generation = 0;  // of the sums that count this sample
};

class Samples {
  public:
    constexpr Samples() = default;

    // false: no memory now; the caller may try again.
    bool initialise();
    // Removes all samples but those that are put aside. No other thread may insert meanwhile.
    void clear();
    // false: all slots near the address's home are taken.
    bool insert(const void *p, const Sample &sample);
    // Removes the sample of p. false: there is none.
    bool take(const void *p, Sample *sample) { return find_and_end(p, kFree, sample) != nullptr; }

    // Removes the sample of p where the caller may not count it now: puts it aside for the next call of take_aside.
    bool put_aside(const void *p);
    bool any_aside() const { return aside_.load(std::memory_order_seq_cst) != 0; }
    template <class Count>
    void take_aside(Count count) {
        for (std::uint32_t i = aside_.exchange(0, std::memory_order_seq_cst); i != 0;) {
            Slot &slot = slots_[i - 1];
            const Sample sample = slot.sample();
            i = static_cast<std::uint32_t>(slot.address.load(std::memory_order_relaxed) >> kNextShift);
            slot.address.store(kFree, std::memory_order_release);
            count(sample);
        }
    }

  private:
    struct Slot {
        Sample sample() const { return {size, site, generation}; }

        // Stored after the other members. release: pairs with the acquire of lookups.
        std::atomic<std::uintptr_t> address;
        std::uint64_t size;
        std::uint32_t site;
        std::uint32_t generation;
    };
    // The states that stand in place of an address. No address has a bit of kStates.
    static constexpr std::uintptr_t kFree = 0;
    static constexpr std::uintptr_t kClaimed = 1;
    static constexpr std::uintptr_t kAside = 2;  // and from kNextShift up: 1 + index of the next slot put aside, or 0
    static constexpr std::uintptr_t kStates = 3;
    static constexpr unsigned kNextShift = 8;
    static constexpr unsigned kWindow = 64;
    static constexpr std::size_t kSlots = kMostSamples + kWindow;

    static std::uintptr_t address_of(const void *p) { return reinterpret_cast<std::uintptr_t>(p); }
    static std::size_t home_of(std::uintptr_t address);
    Slot *find(std::uintptr_t address) const;
    Slot *find_and_end(const void *p, std::uintptr_t becomes, Sample *sample);

    Slot *slots_ = nullptr;
    std::atomic<unsigned> reach_{0};  // 1 + the largest distance of a sample from its home so far; only grows
    std::atomic<std::uint32_t> aside_{0};
};

}  // namespace gr
