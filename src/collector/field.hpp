// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: all kinds as a marker sees them: from any word to the block that it points to, if it does.
// Invariant: all regions lie in one range, each in a slot of 2^slot_shift bytes. candidate() is true of the moment of
//            prepare(): after it nobody allocates or frees, and free blocks bear the mark of this collection already.
// Must not know: what a block holds; in which order it is marked.
#pragma once

#include <array>

#include "collector/descriptor.hpp"
#include "collector/marks.hpp"
#include "heap/unit_entry.hpp"
#include "platform/world/range.hpp"

namespace gr {

inline constexpr unsigned kMostKinds = 32;

// A block in use, or cached.
struct Target {
    const char *begin = nullptr;  // nullptr: no block
    std::size_t bytes = 0;
    Mark *mark = nullptr;  // nullptr: it has none before the first collection that finds it
    std::uint32_t kind = 0;
};

// What is to be scanned if it is not marked yet.
struct Candidate {
    Mark *mark = nullptr;  // nullptr: no block
    Task task{};
};

class Field {
  public:
    struct Kind {
        const Region *region = nullptr;  // nullptr: no kind
        const Superblocks *superblocks = nullptr;
        const Marks *marks = nullptr;
        Descriptor descriptor{};  // of its blocks
        bool adds_size = false;   // to the descriptor
        bool is_collected = true;
    };

    constexpr Field() = default;

    void begin(const char *base, std::size_t bytes, unsigned slot_shift) {
        base_ = base;
        bytes_ = bytes;
        slot_shift_ = slot_shift;
    }
    // Whether a pointer so far into a block counts, unless it lies on a stack; nullptr: everywhere.
    using Accepts = bool (*)(std::size_t displacement);
    Accepts accepts() const { return accepts_; }
    void set_accepts(Accepts wanted) { accepts_ = wanted; }

    const char *base() const { return base_; }
    std::size_t bytes() const { return bytes_; }
    const char *end() const { return base_ + bytes_; }
    Kind &kind(std::size_t slot) { return kinds_[slot]; }
    const Kind &kind(std::size_t slot) const { return kinds_[slot]; }
    Descriptor descriptor_of(const Target &t) const {
        const Kind &k = kinds_[t.kind];
        return k.adds_size ? k.descriptor.plus(t.bytes) : k.descriptor;
    }

    bool may_point(std::uintptr_t word) const { return word - reinterpret_cast<std::uintptr_t>(base_) < bytes_; }
    // At any time; whoever allocates and frees meanwhile knows whether the answer may change.
    Target target(std::uintptr_t word) const;

    // All marks have memory, and no unit of any kind an entry that is stale.
    void prepare();
    // Of a word that may point.
    Candidate candidate(std::uintptr_t word) const {
        const Seen &seen = seen_[(word - reinterpret_cast<std::uintptr_t>(base_)) >> slot_shift_];
        const std::uintptr_t unit = (word - seen.base) >> kUnitShift;
        if (unit >= seen.unit_end) return {};
        const UnitEntry e = seen.entries[unit];
        const ClassIndex c = class_in(e);
        const ClassShape &shape = shape_of(c);
        if (e == 0 || e == kRunEntry || shape.units != 1) [[unlikely]]
            return far_candidate(word);
        const std::size_t at = word % kUnitBytes;
        const BlockIndex index = shape.block_at(at);
        if (index.value >= shape.blocks) return {};  // the tail that no block covers
        Mark *const row =
            Superblocks::is_wide(c) ? seen.wide + unit * Marks::kWideRow : seen.narrow + unit * Marks::kNarrowRow;
        const std::uintptr_t begin = word - (at - std::size_t{index.value} * shape.size);
        return {row + index.value,
                {reinterpret_cast<const char *>(begin), seen.descriptor.plus(seen.grows & shape.size)}};
    }

  private:
    // What candidate() reads of a kind, in one cache line.
    struct alignas(kCacheLineBytes) Seen {
        std::uintptr_t base = 0;
        std::uintptr_t unit_end = 0;
        const UnitEntry *entries = nullptr;
        Mark *narrow = nullptr;  // of unit 0, which has none
        Mark *wide = nullptr;
        Descriptor descriptor{};
        std::size_t grows = 0;  // all bits, if the block's size is added to the descriptor
    };

    // Of a run, or of a superblock of several units.
    Candidate far_candidate(std::uintptr_t word) const;

    const char *base_ = nullptr;
    std::size_t bytes_ = 0;
    unsigned slot_shift_ = 0;
    Accepts accepts_ = nullptr;
    std::array<Kind, kMostKinds> kinds_{};
    std::array<Seen, kMostKinds> seen_{};
};

}  // namespace gr
