// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: field.hpp.
// Invariant: as there.
// Must not know: what a block holds; in which order it is marked.
#include "collector/field.hpp"

namespace gr {

Target Field::target(std::uintptr_t word) const {
    if (!may_point(word)) return {};
    const auto slot = static_cast<std::uint32_t>((word - reinterpret_cast<std::uintptr_t>(base_)) >> slot_shift_);
    const Kind &kind = kinds_[slot];
    const auto *const p = reinterpret_cast<const char *>(word);
    if (kind.region == nullptr || !kind.region->contains(p)) return {};
    const BlockRef ref = kind.superblocks->find(p);
    const Superblock *const s = ref.superblock;
    if (s == nullptr || (s->use == UnitUse::superblock && kind.superblocks->is_free(s, ref.index))) return {};
    const bool is_wide = s->use == UnitUse::superblock && Superblocks::is_wide(s->size_class);
    return {.begin = kind.superblocks->address(s, ref.index),
            .bytes = Superblocks::block_size(s),
            .mark = kind.marks->covers(s->unit) ? kind.marks->row(s->unit, is_wide) + ref.index.value : nullptr,
            .kind = slot};
}

void Field::prepare() {
    for (std::size_t i = 0; i < kMostKinds && kinds_[i].region != nullptr; ++i) {
        const Kind &kind = kinds_[i];
        seen_[i] = {.base = reinterpret_cast<std::uintptr_t>(kind.region->base()),
                    .unit_end = kind.region->unit_end().value,
                    .entries = &kind.region->entry(UnitIndex(0)),
                    .narrow = kind.marks->row(UnitIndex(0), false),
                    .wide = kind.marks->row(UnitIndex(0), true),
                    .descriptor = kind.descriptor,
                    .grows = kind.adds_size ? ~std::size_t{0} : 0};
    }
}

Candidate Field::far_candidate(std::uintptr_t word) const {
    const Target t = target(word);
    if (t.begin == nullptr) return {};
    return {t.mark, {t.begin, descriptor_of(t)}};
}

}  // namespace gr
