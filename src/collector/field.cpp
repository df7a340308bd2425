// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/field.hpp"

namespace gr {

Target Field::target(std::uintptr_t word) const {
    const FoundBlock block = find(word);
    if (block.begin == nullptr) return {};
    const Marks &marks = *kinds_[block.kind].marks;
    Mark *const mark = marks.covers(block.unit) ? marks.row(block.unit, block.is_wide) + block.index.value : nullptr;
    return {.begin = block.begin, .bytes = block.bytes, .extent = block.extent, .mark = mark, .kind = block.kind};
}

void Field::set_kind(std::size_t slot, const Kind &kind) {
    kinds_[slot] = kind;
    places_[slot] = {.base = reinterpret_cast<std::uintptr_t>(kind.region->base()),
                     .unit_end = kind.region->unit_end_cell(),
                     .bits = kind.superblocks->bit_rows()};
}

FoundBlock Field::find_far(std::uint32_t slot, UnitIndex unit, std::uintptr_t word) const {
    const Superblocks &superblocks = *kinds_[slot].superblocks;
    if (unit < kinds_[slot].region->first_unit()) return {};
    const Superblock *const s = superblocks.head(unit);
    const char *const begin = superblocks.begin(s);
    if (s->use == UnitUse::run) {
        return {.begin = begin,
                .bytes = Superblocks::block_size(s),
                .extent = Superblocks::block_extent(s),
                .kind = slot,
                .unit = s->unit,
                .index = BlockIndex(0)};
    }
    if (s->use != UnitUse::superblock) return {};
    const ClassShape &shape = s->shape();
    const BlockIndex index = shape.block_at(word - reinterpret_cast<std::uintptr_t>(begin));
    if (index.value >= shape.blocks || superblocks.is_free(s, index)) return {};
    return {.begin = begin + std::size_t{index.value} * shape.size,
            .bytes = shape.size,
            .extent = shape.size,
            .kind = slot,
            .unit = s->unit,
            .index = index,
            .is_wide = Superblocks::is_wide(s->size_class)};
}

bool Field::begin(const char *base, std::size_t bytes, unsigned slot_shift) {
    base_ = base;
    bytes_ = bytes;
    slot_shift_ = slot_shift;
    return units_.reserve(reinterpret_cast<std::uintptr_t>(base), bytes);
}

bool Field::cover() {
    for (std::size_t i = 0; i < kMostKinds && kinds_[i].region != nullptr; ++i) {
        const Region &region = *kinds_[i].region;
        const UnitIndex end = region.unit_end();
        if (end <= covered_[i]) continue;
        const auto base = reinterpret_cast<std::uintptr_t>(region.base());
        if (!units_.cover(base, base + (std::uintptr_t{end.value} << kUnitShift))) return false;
        covered_[i] = end;
    }
    return true;
}

void Field::prepare(std::size_t slot, const CollectorView &view) {
    const Kind &kind = kinds_[slot];
    const Region &region = *kind.region;
    const auto fill = [&](UnitIndex first, UnitCount units, const UnitRow &row) {
        for (UnitIndex u = first; u < first + units; u = u + UnitCount(1))
            units_.of(reinterpret_cast<std::uintptr_t>(region.address(u))) = row;
    };
    fill(region.first_unit(), UnitCount(region.unit_end().value - region.first_unit().value), {});
    view.for_each_run([&](const Superblock *run) { fill(run->unit, run->units, {.size = 1}); });
    view.for_each_superblock([&](const Superblock *s) {
        const ClassShape &shape = s->shape();
        if (shape.units != 1) return fill(s->unit, s->units, {.size = 1});
        fill(s->unit, s->units,
             {.marks = kind.marks->row(s->unit, Superblocks::is_wide(s->size_class)),
              .descriptor = kind.adds_size ? kind.descriptor.plus(shape.size) : kind.descriptor,
              .reciprocal = shape.reciprocal,
              .size = shape.size,
              .blocks = shape.blocks});
    });
}

Candidate Field::far_candidate(std::uintptr_t word) const {
    const Target t = target(word);
    if (t.begin == nullptr) return {};
    return {t.mark, {t.begin, descriptor_of(t)}};
}

// The descriptors of units that change hands may say anything.
Candidate Field::moving_far_candidate(const Kind &kind, std::uintptr_t word) const {
    const auto *const p = reinterpret_cast<const char *>(word);
    const BlockRef ref = kind.superblocks->find(p);
    const Superblock *const s = ref.superblock;
    if (s == nullptr || !kind.marks->covers(s->unit)) return {};
    const bool is_wide = s->use == UnitUse::superblock && Superblocks::is_wide(s->size_class);
    const std::size_t bytes = Superblocks::block_size(s);
    const std::size_t extent = Superblocks::block_extent(s);
    const char *const begin = kind.superblocks->address(s, ref.index);
    if (begin > p || static_cast<std::size_t>(p - begin) >= extent || bytes > extent) return {};
    if (!kind.region->contains(begin + extent - 1)) return {};
    return {kind.marks->row(s->unit, is_wide) + ref.index.value,
            {begin, kind.adds_size ? kind.descriptor.plus(bytes) : kind.descriptor}};
}

}  // namespace gr
