// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gcmalloc/quarantine.hpp"

#include <bit>
#include <cstring>

#include "collector/collector_tables.hpp"
#include "gcmalloc/under.hpp"
#include "heap/misuse.hpp"
#include "heap/unit_entry.hpp"
#include "instance/instance.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

// Bytes that the calling thread has freed and not yet added to bytes_.
thread_local constinit std::size_t uncounted = 0;

BlockRef find_block(const void *p) {
    return instance.region().contains(p) ? instance.superblocks().find(p) : BlockRef{};
}

// Zeroes a whole block. For a small block a call of memset would cost more than the stores.
void clear(void *block, std::size_t bytes) {
    constexpr std::size_t kPiece = kFineStep;
    constexpr std::size_t kMostPieces = 4;
    if (bytes > kMostPieces * kPiece) {
        std::memset(block, 0, bytes);
        return;
    }
    char *const first = static_cast<char *>(block);
    char *const last = first + bytes - kPiece;
    std::memset(first, 0, kPiece);
    std::memset(last, 0, kPiece);
    if (bytes <= 2 * kPiece) return;
    std::memset(first + kPiece, 0, kPiece);
    std::memset(last - kPiece, 0, kPiece);
}

// Whether the program has the block, or a cache.
bool is_used(const BlockRef &ref) {
    if (ref.superblock == nullptr || ref.fault != BlockFault::none) return false;
    return ref.superblock->use == UnitUse::run || !instance.superblocks().is_free(ref.superblock, ref.index);
}

}  // namespace

constinit Quarantine process_quarantine;

bool Quarantine::initialise() {
    if (!flags_.reserve(instance.region())) return false;
    publish_waiting(instance.region(), flags_, bytes_, pace_.due_cell());
    return true;
}

std::size_t Quarantine::weight(const Superblock *s) {
    const std::size_t bytes = Superblocks::block_size(s);
    return s->use == UnitUse::run ? bytes / kRunParts : bytes;
}

// Serves the classes whose superblocks are single units, by the unit's entry alone.
bool Quarantine::take_quickly(void *p) {
    const Region &region = instance.region();
    if (!region.contains(p)) return false;
    const UnitIndex unit = region.unit_of(p);
    const UnitEntry entry = load_entry(region, unit);
    if (entry == 0 || entry == kRunEntry || !flags_.covers(unit)) return false;
    const ClassIndex c = class_in(entry);
    const ClassShape &shape = shape_of(c);
    const std::size_t offset = Superblocks::offset_in_unit(p);
    const BlockIndex index = shape.block_at(offset);
    if (shape.units != 1 || index.value >= shape.blocks || index.value * shape.size != offset) return false;
    if (instance.superblocks().is_free(unit, c, index)) return false;
    Mark &flag = flags_.row(unit, Superblocks::is_wide(c))[index.value];
    if (flag.load(std::memory_order_relaxed) != 0) return false;
    clear(p, shape.size);
    flag.store(kWaits, std::memory_order_release);
    count(shape.size);
    return true;
}

void Quarantine::take_slowly(void *p) {
    const BlockRef ref = find_block(p);
    if (ref.fault == BlockFault::interior)
        die_interior("free", p, instance.superblocks().address(ref.superblock, ref.index),
                     Superblocks::block_size(ref.superblock));
    if (!is_used(ref) || !cover(ref.superblock->unit)) return gr_under_free(p);
    const std::size_t bytes = Superblocks::block_size(ref.superblock);
    const std::size_t weighs = weight(ref.superblock);
    if (ref.superblock->use != UnitUse::run || !platform::purge(p, bytes)) std::memset(p, 0, bytes);
    // This comes last: from here on the block may be given to another thread.
    if (flag_of(ref)->exchange(kWaits, std::memory_order_release) != 0) die_twice("free", p, bytes);
    count(weighs);
}

void Quarantine::count(std::size_t bytes) {
    uncounted += bytes;
    if (uncounted < kUncounted) return;
    bytes_.fetch_add(uncounted, std::memory_order_relaxed);
    uncounted = 0;
}

Word Quarantine::in_use(const Superblock *s, std::uint32_t word) const {
    Bitmap free = instance.superblocks().free_bits(s);
    const Word waiting = flags_.covers(s->unit) ? flags_.raised(s, word) : 0;
    return free.valid_bits(word) & ~free.word(word) & ~waiting;
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

// A run for which the list has no room is found by the next search. Bytes that threads have not counted yet are counted
// later, even if their blocks are free by then.
void Quarantine::sweep(const Collector &by, Kind &kind) {
    std::size_t gone = 0;
    stays_ = 0;
    const auto find_dead = [&](const Superblock *s, std::uint32_t word) {
        const Word waiting = flags_.covers(s->unit) ? flags_.raised(s, word) : 0;
        if (waiting == 0) return waiting;
        const Word reached = waiting & by.reached(kind, s, word);
        stays_ += static_cast<std::size_t>(std::popcount(reached)) * weight(s);
        gone += static_cast<std::size_t>(std::popcount(waiting & ~reached)) * weight(s);
        return waiting & ~reached;
    };
    CollectorView &view = kind.instance.collector_view();
    view.keep_only([&](const Superblock *s, std::uint32_t word) {
        const Word dead = find_dead(s, word);
        if (dead != 0) flags_.stamp(s, word, dead, 0);
        return ~dead;
    });
    view.for_each_run([&](Superblock *run) {
        if ((find_dead(run, 0) & 1) != 0) static_cast<void>(dead_runs_.add({run}));
    });
    bytes_.store(stays_, std::memory_order_relaxed);
    kind.instance.expect_reuse(gone);
}

void Quarantine::settle(const CollectionReport &search, Kind &kind) {
    while (!dead_runs_.is_empty()) {
        Superblock *const run = dead_runs_.take_last().run;
        flags_.row(run)->store(0, std::memory_order_relaxed);
        kind.instance.release_run(run);
    }
    dead_runs_.release();
    const std::size_t waiting = bytes_.load(std::memory_order_relaxed);
    if (!search.done) stays_ = waiting;  // the next search is not due at once
    const std::size_t idle = search.held > search.live_bytes ? search.held - search.live_bytes : 0;
    const std::size_t free = idle + kind.instance.pages().retained_bytes();
    const std::size_t resident = platform::resident_bytes();
    pace_.learn(stays_, resident, resident > free + waiting ? resident - free - waiting : 0, waiting);
}

bool Quarantine::is_worth_search() {
    return pace_.is_worth(platform::resident_bytes(), bytes_.load(std::memory_order_relaxed));
}

}  // namespace gr
