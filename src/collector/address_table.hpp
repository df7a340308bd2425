// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a hash table from addresses to values, in memory of its own from the kernel, for code that may not allocate.
// Invariant: addresses are stored as complements, so the table keeps nothing alive wherever it is mapped. At most three
//    quarters of the slots are used. Each entry lies between its home and the next empty slot. The caller serialises
//    calls.
// Must not know: what lies at the addresses; what the values mean.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "base/bits.hpp"
#include "base/check.hpp"
#include "platform/memory.hpp"
#include "platform/world/range.hpp"

namespace gr {

// An address that no marker takes for an address.
class Hidden {
  public:
    constexpr Hidden() = default;  // no address; zeroed memory holds only these
    explicit Hidden(const void *address) : complement_(~reinterpret_cast<std::uintptr_t>(address)) {}

    bool is_none() const { return complement_ == 0; }
    void *reveal() const { return reinterpret_cast<void *>(~complement_); }
    std::uint64_t bits() const { return complement_; }
    bool operator==(const Hidden &) const = default;

  private:
    std::uintptr_t complement_ = 0;
};

template <class Value>
requires std::is_trivially_copyable_v<Value>
class AddressTable {
  public:
    constexpr AddressTable() = default;
    AddressTable(const AddressTable &) = delete;
    AddressTable &operator=(const AddressTable &) = delete;

    std::size_t size() const { return size_; }
    platform::Growing memory() const { return {&slots_, &capacity_, sizeof(Slot)}; }

    // Valid until the next change. nullptr: the table does not have the address.
    Value *find(const void *address) {
        if (size_ == 0) return nullptr;
        Slot &slot = slots_[place_of(Hidden(address))];
        return slot.is_empty() ? nullptr : &slot.value;
    }
    // The table does not have the address yet. false: no memory. Right after a removal there is room without new
    // memory.
    [[nodiscard]] bool add(const void *address, const Value &value) {
        GR_CHECK(find(address) == nullptr);
        if (size_ == most() && !grow()) return false;
        slots_[place_of(Hidden(address))] = {Hidden(address), value};
        ++size_;
        return true;
    }
    // false: the table did not have the address.
    bool remove(const void *address) {
        if (size_ == 0) return false;
        const std::size_t place = place_of(Hidden(address));
        if (slots_[place].is_empty()) return false;
        remove_at(place);
        return true;
    }

    // visit(address, value).
    template <class Visit>
    void for_each(Visit visit) const {
        for (const Slot &slot : std::span<const Slot>(slots_, capacity_)) {
            if (!slot.is_empty()) visit(slot.address.reveal(), slot.value);
        }
    }
    // Removes the entries for which test(address, value) is true. Each entry is tested once.
    template <class Test>
    void remove_if(Test test) {
        if (size_ == 0) return;
        // Begins behind an empty slot, so that an entry that moves into a hole has not been tested.
        std::size_t at = first_empty();
        for (std::size_t left = capacity_ - 1; left != 0; --left) {
            at = next(at);
            while (!slots_[at].is_empty() && test(slots_[at].address.reveal(), std::as_const(slots_[at].value)))
                remove_at(at);
        }
    }
    // Returns the memory to the OS.
    void release() {
        if (slots_ != nullptr) platform::unmap(slots_, capacity_ * sizeof(Slot));
        slots_ = nullptr;
        size_ = capacity_ = 0;
    }

  private:
    struct Slot {
        Hidden address;
        Value value;

        bool is_empty() const { return address.is_none(); }
    };
    static constexpr std::size_t kMostSlotBytes = 1024;
    static_assert(sizeof(Slot) <= kMostSlotBytes, "a page has room for four slots");

    std::size_t most() const { return capacity_ / 4 * 3; }
    std::size_t next(std::size_t at) const { return (at + 1) & (capacity_ - 1); }
    std::size_t steps(std::size_t from, std::size_t to) const { return (to - from) & (capacity_ - 1); }
    // A multiplication carries the differences between addresses into the high bits.
    std::size_t home_of(Hidden address) const {
        constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
        return address.bits() * kGoldenRatio >> (kWordBits - static_cast<unsigned>(std::countr_zero(capacity_)));
    }
    // Where the address lies, or would lie.
    std::size_t place_of(Hidden address) const {
        std::size_t at = home_of(address);
        while (!slots_[at].is_empty() && slots_[at].address != address) at = next(at);
        return at;
    }
    std::size_t first_empty() const {
        std::size_t at = 0;
        while (!slots_[at].is_empty()) ++at;
        return at;
    }

    // Entries behind the hole move up, unless their home is behind the hole.
    void remove_at(std::size_t hole) {
        for (std::size_t at = next(hole); !slots_[at].is_empty(); at = next(at)) {
            if (steps(home_of(slots_[at].address), at) < steps(hole, at)) continue;
            slots_[hole] = slots_[at];
            hole = at;
        }
        slots_[hole].address = Hidden();
        --size_;
    }

    bool grow() {
        const std::span<Slot> old(slots_, capacity_);
        const std::size_t wanted = old.empty() ? std::bit_floor(platform::page_size() / sizeof(Slot)) : old.size() * 2;
        void *const memory = platform::map(wanted * sizeof(Slot), 1);
        if (memory == nullptr) return false;
        slots_ = static_cast<Slot *>(memory);
        capacity_ = wanted;
        for (const Slot &slot : old) {
            if (!slot.is_empty()) slots_[place_of(slot.address)] = slot;
        }
        if (!old.empty()) platform::unmap(old.data(), old.size_bytes());
        return true;
    }

    Slot *slots_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;  // a power of two, or 0
};

}  // namespace gr
