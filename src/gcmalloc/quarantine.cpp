// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: quarantine.hpp.
// Invariant: as there.
// Must not know: the names that programs call.
#include "gcmalloc/quarantine.hpp"

#include <cstring>

#include "gcmalloc/under.hpp"
#include "heap/misuse.hpp"
#include "malloc/instance.hpp"
#include "platform/memory.hpp"

namespace gr {
namespace {

BlockRef find_block(const void *p) {
    return instance.region().contains(p) ? instance.superblocks().find(p) : BlockRef{};
}

// In the program's hands, or in a cache.
bool is_used(const BlockRef &ref) {
    if (ref.superblock == nullptr || ref.fault != BlockFault::none) return false;
    return ref.superblock->use == UnitUse::run || !instance.superblocks().is_free(ref.superblock, ref.index);
}

}  // namespace

bool Quarantine::initialise() { return flags_.reserve(instance.region()); }

std::size_t Quarantine::weight(const Superblock *s) {
    const std::size_t bytes = Superblocks::block_size(s);
    return s->use == UnitUse::run ? bytes / kRunParts : bytes;
}

void Quarantine::take(void *p) {
    const BlockRef ref = find_block(p);
    if (ref.fault == BlockFault::interior)
        die_interior("free", p, instance.superblocks().address(ref.superblock, ref.index),
                     Superblocks::block_size(ref.superblock));
    if (!is_used(ref) || !cover(ref.superblock->unit)) return gr_under_free(p);
    const std::size_t bytes = Superblocks::block_size(ref.superblock);
    if (flag_of(ref)->exchange(true)) die_twice("free", p, bytes);
    if (ref.superblock->use != UnitUse::run || !platform::purge(p, bytes)) std::memset(p, 0, bytes);
    bytes_.fetch_add(weight(ref.superblock), std::memory_order_relaxed);
}

bool Quarantine::holds(const void *p) const {
    const BlockRef ref = find_block(p);
    return ref.superblock != nullptr && flags_.covers(ref.superblock->unit) && flag_of(ref)->load();
}

bool Quarantine::cover(UnitIndex unit) {
    if (flags_.covers(unit)) return true;
    const platform::Guard guard(mutex_, kRank);
    return guard.locked() && flags_.cover(unit + UnitCount(1));
}

// What does not fit on the list is found by the next.
void Quarantine::find(const Collector &by, Kind &kind) {
    kept_ = 0;
    const auto look = [&](const Superblock *s, std::uint32_t blocks) {
        if (!flags_.covers(s->unit)) return;
        const Flag *const row = flags_.row(s);
        char *const begin = instance.superblocks().begin(s);
        const std::size_t size = Superblocks::block_size(s);
        for (std::uint32_t i = 0; i < blocks; ++i) {
            if (!row[i].load(std::memory_order_relaxed)) continue;
            if (by.is_marked(begin + i * size) || !unreached_.add(begin + i * size)) kept_ += size;
        }
    };
    Keeper &keeper = kind.instance.keeper();
    keeper.for_each_superblock([&](const Superblock *s) { look(s, s->shape().blocks); });
    keeper.for_each_run([&](const Superblock *run) { look(run, 1); });
}

void Quarantine::settle(bool done, const Collector &of) {
    std::size_t gone = 0;
    while (done && !unreached_.is_empty()) {
        void *const p = unreached_.take_last();
        const BlockRef ref = find_block(p);
        gone += weight(ref.superblock);
        flag_of(ref)->store(false);
        gr_under_free(p);
    }
    unreached_.release();
    const std::size_t left = bytes_.fetch_sub(gone, std::memory_order_relaxed) - gone;
    const std::size_t used = of.used_bytes();
    const std::size_t held = used > kept_ ? used - kept_ : 0;
    const std::size_t more = held / kHeldParts > kLeast ? held / kHeldParts : kLeast;
    due_.store(left + more, std::memory_order_relaxed);
}

}  // namespace gr
