// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: all kinds as a marker sees them: leads from any word to the block that it points to, if there is one.
// Invariant: all regions lie in one range, each in a slot of 2^slot_shift bytes. unit_table() describes the moment of
//    prepare(): no thread allocates or frees after that, and free blocks have the number of this collection already.
// Must not know: what a block holds; in which order blocks are marked.
#pragma once

#include <array>

#include "collector/unit_table.hpp"
#include "heap/collector_view.hpp"
#include "heap/unit_entry.hpp"
#include "platform/world/range.hpp"

namespace gr {

inline constexpr unsigned kMostKinds = 32;

// Where words that may be pointers lie in what is scanned: at multiples of a word only, or at any address, as in packed
// structures.
enum class Words : std::uint8_t { aligned, anywhere };

// A block that is in use or cached.
struct FoundBlock {
    const char *begin = nullptr;  // nullptr: there is no block
    std::size_t bytes = 0;
    std::size_t extent = 0;  // addresses that belong to it: `bytes`, or more if the tail of a run is absent
    std::uint32_t kind = 0;
    UnitIndex unit;  // the first unit of its superblock or run
    BlockIndex index;
    bool is_wide = false;  // whether its superblock has wide bitmaps
};

// A block that is to be marked, with its mark.
struct Target {
    const char *begin = nullptr;  // nullptr: there is no block
    std::size_t bytes = 0;
    std::size_t extent = 0;
    Mark *mark = nullptr;  // nullptr: the block has no mark before the first collection that finds it
    std::uint32_t kind = 0;
};

// A block that is scanned unless it is marked.
struct Candidate {
    Mark *mark = nullptr;  // nullptr: there is no block
    Task task{};
};

class Field {
  public:
    struct Kind {
        const Region *region = nullptr;  // nullptr: no kind
        const Superblocks *superblocks = nullptr;
        const Marks *marks = nullptr;
        Descriptor descriptor{};  // of each block
        bool adds_size = false;   // whether a block's size is added to the descriptor
    };

    constexpr Field() = default;

    // false: no addresses for the unit table.
    bool begin(const char *base, std::size_t bytes, unsigned slot_shift);
    // Whether a pointer counts that points so many bytes behind the beginning of a block. Not asked for pointers on
    // stacks. nullptr: every pointer into a block counts.
    using Accepts = bool (*)(std::size_t displacement);
    Accepts accepts() const { return accepts_; }
    void set_accepts(Accepts wanted) { accepts_ = wanted; }

    // Whether the program may have protected pages of blocks, as of any memory that it got from malloc.
    bool may_be_protected() const { return may_be_protected_; }
    void set_may_be_protected(bool wanted) { may_be_protected_ = wanted; }

    // Words may lie anywhere only where a pointer counts wherever into a block it points, and while the world stands.
    Words words() const { return words_; }
    void set_words(Words words) { words_ = words; }

    const char *base() const { return base_; }
    std::size_t bytes() const { return bytes_; }
    const char *end() const { return base_ + bytes_; }
    void set_kind(std::size_t slot, const Kind &kind);
    const Kind &kind(std::size_t slot) const { return kinds_[slot]; }
    Descriptor descriptor_of(const Target &t) const {
        const Kind &k = kinds_[t.kind];
        return k.adds_size ? k.descriptor.plus(t.bytes) : k.descriptor;
    }

    bool may_point(std::uintptr_t word) const { return word - reinterpret_cast<std::uintptr_t>(base_) < bytes_; }
    // Both may be called at any time. The answer may change while other threads allocate and free.
    [[gnu::always_inline]] FoundBlock find(std::uintptr_t word) const {
        if (!may_point(word)) return {};
        const std::size_t slot = (word - reinterpret_cast<std::uintptr_t>(base_)) >> slot_shift_;
        const Place &place = places_[slot];
        const std::size_t number = (word - place.base) >> kUnitShift;
        if (number >= place.unit_end->load(std::memory_order_relaxed)) return {};
        const UnitIndex unit(static_cast<std::uint32_t>(number));
        const ClassIndex c = class_in(place.entry(unit));
        const ClassShape &shape = shape_of(c);
        if (shape.units != 1) [[unlikely]]
            return find_far(static_cast<std::uint32_t>(slot), unit, word);
        const std::size_t offset = word % kUnitBytes;
        const BlockIndex index = shape.block_at(offset);
        if (index.value >= shape.blocks || place.bits.has(unit, c, index)) return {};
        return {.begin = reinterpret_cast<const char *>(word - offset + std::size_t{index.value} * shape.size),
                .bytes = shape.size,
                .extent = shape.size,
                .kind = static_cast<std::uint32_t>(slot),
                .unit = unit,
                .index = index,
                .is_wide = Superblocks::is_wide(c)};
    }
    Target target(std::uintptr_t word) const;

    // Commits memory for the rows of the unit table. false: refused.
    bool cover();
    // Writes the rows of one kind. After cover(), when all marks have memory.
    void prepare(std::size_t slot, const CollectorView &view);
    const UnitTable &unit_table() const { return units_; }
    // For a word that points into a run, into a superblock of several units, or into a tail that no block covers.
    Candidate far_candidate(std::uintptr_t word) const;
    // Works without prepare(), while other threads allocate and free. The answer is right for a block that was in use
    // before they began and still is. Else any answer is possible, but it names memory that can be read and a mark of a
    // kind.
    [[gnu::always_inline]] Candidate moving_candidate(std::uintptr_t word) const {
        const Kind &kind = kinds_[(word - reinterpret_cast<std::uintptr_t>(base_)) >> slot_shift_];
        const auto *const p = reinterpret_cast<const char *>(word);
        if (kind.region == nullptr || !kind.region->contains(p)) return {};
        const UnitIndex unit = kind.region->unit_of(p);
        const UnitEntry entry = load_entry(*kind.region, unit);
        if (entry == 0 || entry == kRunEntry) return moving_far_candidate(kind, word);
        const ClassShape &shape = shape_of(class_in(entry));
        if (shape.units != 1) return moving_far_candidate(kind, word);
        const std::size_t offset = word % kUnitBytes;
        const BlockIndex index = shape.block_at(offset);
        if (index.value >= shape.blocks || !kind.marks->covers(unit)) return {};
        const char *const begin = p - (offset - std::size_t{index.value} * shape.size);
        return {kind.marks->row(unit, Superblocks::is_wide(class_in(entry))) + index.value,
                {begin, kind.adds_size ? kind.descriptor.plus(shape.size) : kind.descriptor}};
    }

  private:
    // What find() reads of a kind. Without a kind there is no unit.
    struct alignas(kCacheLineBytes) Place {
        static constexpr std::atomic<std::uint32_t> kNoUnits{0};

        std::uintptr_t base = 0;  // of the region, where the entries of its units lie
        const std::atomic<std::uint32_t> *unit_end = &kNoUnits;
        Superblocks::BitRows bits{};

        UnitEntry entry(UnitIndex unit) const {
            return std::atomic_ref(reinterpret_cast<UnitEntry *>(base)[unit.value]).load(std::memory_order_relaxed);
        }
    };

    // The block is a run, or lies in a superblock of several units; or there is none.
    FoundBlock find_far(std::uint32_t slot, UnitIndex unit, std::uintptr_t word) const;
    Candidate moving_far_candidate(const Kind &kind, std::uintptr_t word) const;

    const char *base_ = nullptr;
    std::size_t bytes_ = 0;
    unsigned slot_shift_ = 0;
    Accepts accepts_ = nullptr;
    bool may_be_protected_ = false;
    Words words_ = Words::aligned;
    std::array<Kind, kMostKinds> kinds_{};
    std::array<Place, kMostKinds> places_{};
    std::array<UnitIndex, kMostKinds> covered_{};  // the end of the rows of each kind's region
    UnitTable units_;
};

}  // namespace gr
