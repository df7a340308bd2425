// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/cached_blocks.hpp"

namespace gr {

void CachedBlocks::empty() {
    choose_number();
    kinds_.for_each([&](Kind &kind) { empty(kind); });
}

// A block that only the program frees must not count as used because it is cached, and no cached block may be told of
// as dead: cached blocks get a number of their own and are swept. A block of Lifetime::held_back is in no cache.
void CachedBlocks::empty(Kind &kind) const {
    if (kind.setup.lifetime == Lifetime::held_back) return;
    CollectorView &view = kind.instance.collector_view();
    if (is_exact(kind)) mark(kind, number_);
    view.drop_cached();
    if (!is_exact(kind)) return;
    view.keep_only([&](const Superblock *s, std::uint32_t word) {
        const Word cached = kind.marks.live(s, word, number_);
        kind.marks.stamp(s, word, cached, 0);
        return ~cached;
    });
}

// The number that only cached blocks get is that of the last collection of the whole heap. No block has it any more.
// Blocks that other threads have freed by remote bits are left to their owners: to look for such bits in all old
// superblocks would take longer than to sweep the young ones.
void CachedBlocks::empty_young() const {
    kinds_.for_each([&](Kind &kind) {
        kind.instance.collector_view().take_cached();
        if (!is_exact(kind)) return empty_unmarked(kind);
        mark(kind, 0);
        empty(kind);
    });
}

void CachedBlocks::empty_unmarked(Kind &kind) const {
    mark(kind, 0);
    kind.instance.collector_view().drop_held();
}

void CachedBlocks::mark(Kind &kind, std::uint8_t number) const {
    kind.instance.collector_view().for_each_cached([&](const void *p) {
        const Target t = kinds_.field().target(reinterpret_cast<std::uintptr_t>(p));
        // The program may have freed an address inside a block, which nobody has looked at since: that frees nothing.
        if (t.begin == p) t.mark->store(number, std::memory_order_relaxed);
    });
}

}  // namespace gr
