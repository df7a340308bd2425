// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "profile/samples.hpp"

#include <bit>

#include "platform/memory.hpp"

namespace gr {

bool Samples::initialise() {
    static_assert(sizeof(Slot) == 24, "a sample is three words");
    if (slots_ == nullptr) slots_ = static_cast<Slot *>(platform::map(kSlots * sizeof(Slot), 1));
    return slots_ != nullptr;
}

void Samples::clear() {
    for (std::size_t i = 0; i < kSlots; ++i) {
        std::uintptr_t address = slots_[i].address.load(std::memory_order_relaxed);
        if (address == kFree || (address & kStates) != 0) continue;
        // Fails if another thread takes the sample out meanwhile. acquire: pairs with the release in insert. release:
        // pairs with the acquire of the next insert into this slot.
        slots_[i].address.compare_exchange_strong(address, kFree, std::memory_order_acq_rel);
    }
}

std::size_t Samples::home_of(std::uintptr_t address) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    return address * kGoldenRatio >> (64 - std::countr_zero(kMostSamples));
}

Samples::Slot *Samples::find(std::uintptr_t address) const {
    Slot *const home = slots_ + home_of(address);
    const unsigned reach = reach_.load(std::memory_order_relaxed);
    for (unsigned i = 0; i < reach; ++i) {
        if (home[i].address.load(std::memory_order_acquire) == address) return home + i;
    }
    return nullptr;
}

bool Samples::insert(const void *p, const Sample &sample) {
    Slot *const home = slots_ + home_of(address_of(p));
    for (unsigned i = 0; i < kWindow; ++i) {
        std::uintptr_t expected = kFree;
        if (!home[i].address.compare_exchange_strong(expected, kClaimed, std::memory_order_acquire)) continue;
        // Before the address is stored. Relaxed: a thread that looks for the address got the block after this insert.
        for (unsigned reach = reach_.load(std::memory_order_relaxed);
             reach < i + 1 && !reach_.compare_exchange_weak(reach, i + 1, std::memory_order_relaxed);) {
        }
        home[i].size = sample.size;
        home[i].site = sample.site;
        home[i].generation = sample.generation;
        home[i].address.store(address_of(p), std::memory_order_release);
        return true;
    }
    return false;
}

Samples::Slot *Samples::find_and_end(const void *p, std::uintptr_t becomes, Sample *sample) {
    std::uintptr_t address = address_of(p);
    Slot *const slot = find(address);
    if (slot == nullptr) return nullptr;
    *sample = slot->sample();
    return slot->address.compare_exchange_strong(address, becomes, std::memory_order_acq_rel) ? slot : nullptr;
}

bool Samples::put_aside(const void *p) {
    Sample sample;
    Slot *const slot = find_and_end(p, kAside, &sample);
    if (slot == nullptr) return false;
    const auto index = static_cast<std::uint32_t>(slot - slots_) + 1;
    std::uint32_t first = aside_.load(std::memory_order_relaxed);
    do slot->address.store(kAside | std::uintptr_t{first} << kNextShift, std::memory_order_relaxed);
    while (!aside_.compare_exchange_weak(first, index, std::memory_order_seq_cst));
    return true;
}

}  // namespace gr
