// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the sampled blocks that are live, by address.
// Invariant: takes no lock; an address stands here exactly while its block is live and not forgotten. Whoever takes one
//    out has it alone.
// Must not know: what a sample is counted as.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.hpp"

namespace gr {

struct Sample {
    std::uint64_t size = 0;
    std::uint32_t site = 0;
    std::uint32_t generation = 0;  // of the sums that have it
};

class Samples {
  public:
    constexpr Samples() = default;

    // false: no memory, as of now.
    bool initialise();
    // Ends all that are there, but for those that are put aside; while nobody inserts new ones.
    void clear();
    // false: there is no room near its place.
    bool insert(const void *p, const Sample &sample);
    // Ends the sample of p. false: there is none.
    bool take(const void *p, Sample *sample) { return find_and_end(p, kFree, sample) != nullptr; }

    // The same for who may not count it now: it is put aside, for whoever counts next.
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

        // Stored (release) after what follows; lookups acquire it.
        std::atomic<std::uintptr_t> address;
        std::uint64_t size;
        std::uint32_t site;
        std::uint32_t generation;
    };
    // In place of an address, which has none of these bits.
    static constexpr std::uintptr_t kFree = 0;
    static constexpr std::uintptr_t kClaimed = 1;
    static constexpr std::uintptr_t kAside = 2;  // and above it the index of the next that is put aside, and 1
    static constexpr std::uintptr_t kStates = 3;
    static constexpr unsigned kNextShift = 8;
    static constexpr unsigned kWindow = 64;
    static constexpr std::size_t kSlots = kMostSamples + kWindow;

    static std::uintptr_t address_of(const void *p) { return reinterpret_cast<std::uintptr_t>(p); }
    static std::size_t home_of(std::uintptr_t address);
    Slot *find(std::uintptr_t address) const;
    Slot *find_and_end(const void *p, std::uintptr_t becomes, Sample *sample);

    Slot *slots_ = nullptr;
    std::atomic<unsigned> reach_{0};  // the farthest from its home that one ever was, and 1; only grows
    std::atomic<std::uint32_t> aside_{0};
};

}  // namespace gr
