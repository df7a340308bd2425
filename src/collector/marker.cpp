// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: marker.hpp.
// Invariant: as there.
// Must not know: roots; threads; what becomes of the rest.
#include "collector/marker.hpp"

namespace gr {

Target Field::run_target(const Kind &kind, const char *p) {
    const Superblock *const s = kind.superblocks->head(kind.region->unit_of(p));
    if (s->use != UnitUse::run) return {};
    return {.begin = kind.superblocks->begin(s),
            .bytes = s->bytes(),
            .mark = kind.marks->row(s->unit, false),
            .superblock = s,
            .index = BlockIndex(0),
            .has_pointers = kind.has_pointers};
}

void Marker::scan(platform::Range range) {
    const auto first = align_up(reinterpret_cast<std::uintptr_t>(range.begin), sizeof(void *));
    const auto end = reinterpret_cast<std::uintptr_t>(range.end);
    for (std::uintptr_t at = first; at + sizeof(void *) <= end; at += sizeof(void *)) {
        // By whom it was written, and as what, is not known.
        std::uintptr_t word = 0;
        __builtin_memcpy(&word, reinterpret_cast<const void *>(at), sizeof word);
        consider(word);
    }
}

void Marker::reach(const Target &t) {
    if (t.mark->load(std::memory_order_relaxed) == number_) return;
    if (t.superblock->use == UnitUse::superblock && field_.kind_of(t.begin).superblocks->is_free(t.superblock, t.index))
        return;
    t.mark->store(number_, std::memory_order_relaxed);
    ++marked_blocks_;
    marked_bytes_ += t.bytes;
    if (t.has_pointers) push(t.begin, t.bytes);
}

bool Marker::empty_ring() {
    bool any = false;
    for (Target &slot : ring_) {
        if (slot.begin == nullptr) continue;
        const Target out = slot;
        slot.begin = nullptr;
        reach(out);
        any = true;
    }
    return any;
}

void Marker::drain() {
    do {
        for (Task task; work_.pop(&task);) {
            work_.share();
            if (task.bytes > kPiece) {
                push(task.begin + kPiece, task.bytes - kPiece);
                task.bytes = kPiece;
            }
            scan({task.begin, task.begin + task.bytes});
        }
    } while (empty_ring());
}

}  // namespace gr
