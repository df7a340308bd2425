// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: all kinds as a marker sees them: from any word to the block that it points to, if it does.
// Invariant: nobody allocates or frees while it is used. All regions lie in one range, each in a slot of 2^slot_shift bytes.
// Must not know: what a block holds; in which order it is marked.
#pragma once

#include <array>

#include "collector/marks.hpp"
#include "heap/unit_entry.hpp"
#include "platform/world/range.hpp"

namespace gr {

inline constexpr unsigned kMostKinds = 32;

// Where pointers into a block may point so that it counts.
enum class Interior : std::uint8_t { everywhere, displacements };

struct Target {
    const char *begin = nullptr;  // nullptr: no block
    std::size_t bytes = 0;
    Mark *mark = nullptr;
    const Superblock *superblock = nullptr;
    BlockIndex index;
    bool has_pointers = false;
};

class Field {
  public:
    struct Kind {
        const Region *region = nullptr;  // nullptr: no kind
        const Superblocks *superblocks = nullptr;
        const Marks *marks = nullptr;
        bool has_pointers = false;
    };

    constexpr Field() = default;

    void begin(const char *base, std::size_t bytes, unsigned slot_shift) {
        base_ = base;
        bytes_ = bytes;
        slot_shift_ = slot_shift;
    }
    Kind &kind(std::size_t slot) { return kinds_[slot]; }

    bool may_point(std::uintptr_t word) const { return word - reinterpret_cast<std::uintptr_t>(base_) < bytes_; }
    // Whether the block is free is not asked.
    Target target(std::uintptr_t word) const {
        const std::uintptr_t offset = word - reinterpret_cast<std::uintptr_t>(base_);
        if (offset >= bytes_) return {};
        const Kind &kind = kinds_[offset >> slot_shift_];
        const auto *const p = reinterpret_cast<const char *>(word);
        if (kind.region == nullptr || !kind.region->contains(p)) return {};
        const UnitIndex unit = kind.region->unit_of(p);
        const UnitEntry e = load_entry(*kind.region, unit);
        if (e == 0 || e == kRunEntry) [[unlikely]]
            return run_target(kind, p);
        const ClassIndex c = class_in(e);
        const ClassShape &shape = shape_of(c);
        const Superblock *s = kind.superblocks->descriptor(unit);
        std::size_t at = Superblocks::offset_in_unit(p);
        if (shape.units != 1) [[unlikely]] {
            s = kind.superblocks->head(unit);
            at = static_cast<std::size_t>(p - kind.superblocks->begin(s));
        }
        const BlockIndex index = shape.block_at(at);
        if (index.value >= shape.blocks) return {};  // the tail that no block covers
        const UnitIndex first = shape.units == 1 ? unit : s->unit;
        return {.begin = p - (at - std::size_t{index.value} * shape.size),
                .bytes = shape.size,
                .mark = kind.marks->row(first, Superblocks::is_wide(c)) + index.value,
                .superblock = s,
                .index = index,
                .has_pointers = kind.has_pointers};
    }
    static bool is_free(const Kind &kind, const Target &t) { return kind.superblocks->is_free(t.superblock, t.index); }
    const Kind &kind_of(const char *p) const {
        return kinds_[static_cast<std::size_t>(p - base_) >> slot_shift_];
    }

  private:
    static Target run_target(const Kind &kind, const char *p);

    const char *base_ = nullptr;
    std::size_t bytes_ = 0;
    unsigned slot_shift_ = 0;
    std::array<Kind, kMostKinds> kinds_{};
};

}  // namespace gr
