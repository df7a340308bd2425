// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gcmalloc/origins.hpp"

#include "collector/collector_tables.hpp"
#include "instance/instance.hpp"

namespace gr {
namespace {

constexpr platform::Rank kRank = platform::Rank::origins;

}  // namespace

bool Origins::initialise() {
    if (!walk_.initialise() || !stacks_.initialise() || !numbers_.reserve(instance.region())) return false;
    for (const auto &memory : {stacks_.memory(), numbers_.memory()}) {
        for (const platform::Growing &piece : memory) publish_memory(MemoryUse::origins, piece);
    }
    return true;
}

void Origins::note(const void *p) {
    if (!instance.region().contains(p)) return;
    const BlockRef ref = instance.superblocks().find(p);
    if (ref.superblock == nullptr || (!numbers_.covers(ref.superblock->unit) && !cover(ref.superblock->unit))) return;
    std::uintptr_t calls[Stacks::kMostCalls];
    const std::size_t count = walk_.take(calls);
    numbers_.row(ref.superblock)[ref.index.value].store(stacks_.number_of({&calls[0], count}),
                                                        std::memory_order_relaxed);
}

bool Origins::cover(UnitIndex unit) {
    const platform::Guard guard(mutex_, kRank);
    return guard.locked() && numbers_.cover(unit + UnitCount(1));
}

void Origins::lock() {
    mutex_.lock_always(kRank);
    unloaded_.lock();
    stacks_.lock();
}

void Origins::unlock() {
    stacks_.unlock();
    unloaded_.unlock();
    mutex_.unlock(kRank);
}

}  // namespace gr
