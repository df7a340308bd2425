// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a hash table from addresses to values, in memory of its own from the kernel, for code that may not allocate.
// Invariant: addresses are stored as complements, so the table keeps nothing alive wherever it is mapped. At most three
//    quarters of the slots are used. Each entry lies between its home and the next empty slot. The caller serialises
//    calls.
// Must not know: what lies at the addresses; what the values mean.
#pragma once

#include <atomic>
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

    // At any time; but exact only for who may change it.
    std::size_t size() const { return size_.load(std::memory_order_relaxed); }
    platform::Growing memory() const { return {&slots_, &capacity_, sizeof(Slot)}; }

    // Valid until the next change. nullptr: the table does not have the address.
    Value *find(const void *address) {
        if (size() == 0) return nullptr;
        Slot &slot = slots_[place_of(Hidden(address))];
        return slot.is_empty() ? nullptr : &slot.value;
    }
    // Room for so many entries in all. A table that grows while it is filled in the order of its own hash, as for_each of
    // another table gives it, would take time quadratic in the entries. false: no memory, no change.
    [[nodiscard]] bool reserve(std::size_t count) {
        std::size_t wanted = capacity_ == 0 ? least() : capacity_;
        while (most(wanted) < count) wanted *= 2;
        return wanted == capacity_ || move_to(wanted);
    }
    // The table does not have the address yet. false: no memory. Right after a removal there is room without new
    // memory.
    [[nodiscard]] bool add(const void *address, const Value &value) {
        GR_CHECK(find(address) == nullptr);
        return find_or_add(address, value).value != nullptr;
    }
    // The value that the table has for the address, or else the given one, which is added. Valid until the next change.
    // value == nullptr: no memory.
    struct Found {
        Value *value;
        bool is_new;
    };
    Found find_or_add(const void *address, const Value &value) {
        const Hidden hidden(address);
        if (capacity_ != 0) {
            Slot &slot = slots_[place_of(hidden)];
            if (!slot.is_empty()) return {&slot.value, false};
            if (size() != most(capacity_)) return fill(slot, hidden, value);
        }
        if (!move_to(capacity_ == 0 ? least() : capacity_ * 2)) return {nullptr, false};
        return fill(slots_[place_of(hidden)], hidden, value);
    }
    // false: the table did not have the address.
    bool remove(const void *address) {
        if (size() == 0) return false;
        const std::size_t place = place_of(Hidden(address));
        if (slots_[place].is_empty()) return false;
        remove_at(place);
        return true;
    }

    // visit(address, value).
    template <class Visit>
    void for_each(Visit visit) const {
        if (size() == 0) return;
        for (const Slot &slot : std::span<const Slot>(slots_, capacity_)) {
            if (!slot.is_empty()) visit(slot.address.reveal(), slot.value);
        }
    }
    // Removes the entries for which test(address, value) is true. Each entry is tested once.
    template <class Test>
    void remove_if(Test test) {
        if (size() == 0) return;
        // From behind an empty slot on, so that whatever stays finds its place among those that were asked about before.
        std::size_t at = first_empty();
        bool has_hole = false;  // since the last slot that was empty before
        for (std::size_t left = capacity_ - 1; left != 0; --left) {
            at = next(at);
            Slot &slot = slots_[at];
            if (slot.is_empty()) {
                has_hole = false;
            } else if (test(slot.address.reveal(), std::as_const(slot.value))) {
                slot.address = Hidden();
                set_size(size() - 1);
                has_hole = true;
            } else if (has_hole) {
                const Slot stays = std::exchange(slot, Slot{});
                slots_[place_of(stays.address)] = stays;
            }
        }
    }
    // Half of the memory goes back if little of it was ever used since the last call. Where there is no memory for the
    // smaller table the larger one stays.
    void give_back() {
        if (most_used_ < capacity_ / kSparseParts && capacity_ > least()) static_cast<void>(move_to(capacity_ / 2));
        most_used_ = size();
    }
    // Its memory goes back.
    void release() {
        if (slots_ != nullptr) platform::unmap(slots_, capacity_ * sizeof(Slot));
        slots_ = nullptr;
        capacity_ = 0;
        set_size(0);
    }

  private:
    struct Slot {
        Hidden address;
        Value value;

        bool is_empty() const { return address.is_none(); }
    };
    static constexpr unsigned kGranuleShift = 4;         // addresses differ by so many bits, but for cells
    static constexpr unsigned kGroupShift = 4;           // addresses of a group differ by so many bits more
    static constexpr std::size_t kSparseParts = 8;       // where less than such a part is used, half is enough
    static constexpr std::size_t kMostSlotBytes = 1024;  // of a page there must be four slots
    static_assert(sizeof(Slot) <= kMostSlotBytes, "a page has room for four slots");

    void set_size(std::size_t size) { size_.store(size, std::memory_order_relaxed); }
    static std::size_t most(std::size_t capacity) { return capacity / 4 * 3; }
    static std::size_t least() { return std::bit_floor(platform::page_size() / sizeof(Slot)); }
    Found fill(Slot &slot, Hidden address, const Value &value) {
        slot = {address, value};
        set_size(size() + 1);
        if (most_used_ < size()) most_used_ = size();
        return {&slot.value, true};
    }
    std::size_t next(std::size_t at) const { return (at + 1) & (capacity_ - 1); }
    std::size_t steps(std::size_t from, std::size_t to) const { return (to - from) & (capacity_ - 1); }
    // Addresses that lie close together have homes close together, for what is allocated in turn is registered in turn:
    // those of a group are at its places in their order. Groups differ where a multiplication carries into the high bits.
    std::size_t home_of(Hidden address) const {
        constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
        const std::uint64_t place = address.bits() >> kGranuleShift;
        const std::uint64_t group = (place >> kGroupShift) * kGoldenRatio;
        const std::size_t begin = group >> (kWordBits - static_cast<unsigned>(std::countr_zero(capacity_)));
        return (begin + (place & ((1U << kGroupShift) - 1))) & (capacity_ - 1);
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
        set_size(size() - 1);
    }

    // false: no memory; nothing has changed.
    bool move_to(std::size_t wanted) {
        const std::span<Slot> old(slots_, capacity_);
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
    std::atomic<std::size_t> size_{0};  // read without the lock as a hint; ordered by nothing
    std::size_t most_used_ = 0;
    std::size_t capacity_ = 0;  // a power of two, or none
};

}  // namespace gr
