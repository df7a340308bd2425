// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: quarantine.hpp.
// Invariant: as there.
// Must not know: the names that programs call.
#include "gcmalloc/quarantine.hpp"

#include <bit>
#include <cstring>

#include "collector/collector_tables.hpp"
#include "gcmalloc/under.hpp"
#include "heap/misuse.hpp"
#include "malloc/instance.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"

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

bool Quarantine::initialise() {
    if (!flags_.reserve(instance.region())) return false;
    publish_waiting(instance.region(), flags_, bytes_, due_);
    return true;
}

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
    const std::size_t weighs = weight(ref.superblock);
    if (ref.superblock->use != UnitUse::run || !platform::purge(p, bytes)) std::memset(p, 0, bytes);
    // Afterwards, for from here on it may become somebody else's.
    if (flag_of(ref)->exchange(kWaits, std::memory_order_release) != 0) die_twice("free", p, bytes);
    bytes_.fetch_add(weighs, std::memory_order_relaxed);
}

bool Quarantine::holds(const void *p) const {
    const BlockRef ref = find_block(p);
    return ref.superblock != nullptr && flags_.covers(ref.superblock->unit) &&
           flag_of(ref)->load(std::memory_order_relaxed) != 0;
}

bool Quarantine::cover(UnitIndex unit) {
    if (flags_.covers(unit)) return true;
    const platform::Guard guard(mutex_, kRank);
    return guard.locked() && flags_.cover(unit + UnitCount(1));
}

// What does not fit on the list is found by the next.
void Quarantine::sweep(const Collector &by, Kind &kind) {
    std::size_t gone = 0;
    const auto stays = [&](const Superblock *s, std::uint32_t word) {
        if (!flags_.covers(s->unit)) return ~Word{0};
        const Word dead = flags_.live(s, word, kWaits) & ~by.reached(kind, s, word);
        if (dead == 0) return ~Word{0};
        flags_.stamp(s, word, dead, 0);
        gone += static_cast<std::size_t>(std::popcount(dead)) * weight(s);
        return ~dead;
    };
    Keeper &keeper = kind.instance.keeper();
    keeper.keep_only(stays);
    keeper.for_each_run([&](Superblock *run) {
        if (flags_.covers(run->unit) && (flags_.live(run, 0, kWaits) & ~by.reached(kind, run, 0) & 1) != 0)
            static_cast<void>(dead_runs_.add({run}));
    });
    bytes_.fetch_sub(gone, std::memory_order_relaxed);
}

void Quarantine::settle(Kind &kind) {
    std::size_t gone = 0;
    while (!dead_runs_.is_empty()) {
        Superblock *const run = dead_runs_.take_last().run;
        gone += weight(run);
        flags_.row(run)->store(0, std::memory_order_relaxed);
        kind.instance.release_run(run);
    }
    dead_runs_.release();
    const std::size_t left = bytes_.fetch_sub(gone, std::memory_order_relaxed) - gone;
    const std::size_t more = platform::resident_bytes() / kResidentParts;
    due_.store(left + (more > kLeast ? more : kLeast), std::memory_order_relaxed);
}

}  // namespace gr
