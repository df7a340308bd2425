// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "instance/walk.hpp"

#include <bit>
#include <cerrno>
#include <optional>

#include "platform/memory.hpp"
#include "platform/reentry.hpp"
#include "platform/rseq/stop.hpp"

namespace gr {

// Which blocks of a part of a region are in use. Too large for a stack.
struct Walk::Copy {
    // What begins at a unit.
    struct Piece {
        UnitUse use;  // a superblock, a run, or anything else for nothing
        ClassIndex size_class;
        std::uint32_t first_word;
        UnitCount units;  // of a run
    };

    bool has(UnitIndex u) const { return first <= u && u < end; }
    void take(const Instance &walked, UnitIndex from, UnitIndex to);
    void take_superblock(const Superblocks &superblocks, const Superblock *s);
    bool take_out_cached(Instance &walked);
    void take_out(const Instance &walked, const void *p);

    UnitIndex first;
    UnitIndex end;
    std::uint32_t words_taken;
    Piece pieces[kWalkUnits];
    Word words[kWalkUnits * Superblocks::kWideWords];  // of the superblocks, one after the other
};

namespace {

// A thread that holds all locks finds no block on its way, except between a magazine and the program.
class AllLocks {
  public:
    explicit AllLocks(Instance &locked) : locked_(locked) {
        for (const platform::Rank rank : Instance::kRanks) locked_.lock_all(rank);
    }
    ~AllLocks() {
        for (auto rank = Instance::kRanks.rbegin(); rank != Instance::kRanks.rend(); ++rank) locked_.unlock_all(*rank);
        locked_.settle_all();
    }
    AllLocks(const AllLocks &) = delete;
    AllLocks &operator=(const AllLocks &) = delete;

  private:
    const platform::Reentry inside_;  // a handler that interrupts this must not wait for a lock
    Instance &locked_;
};

}  // namespace

void Walk::Copy::take_superblock(const Superblocks &superblocks, const Superblock *s) {
    Piece &piece = pieces[s->unit.value - first.value];
    piece.size_class = s->size_class;
    piece.first_word = words_taken;
    Bitmap free = superblocks.free_bits(s);
    const AtomicWord *const remote = superblocks.remote_words(s);
    for (std::uint32_t w = 0; w < free.word_count(); ++w)
        words[words_taken++] = free.valid_bits(w) & ~(free.word(w) | remote[w].load(std::memory_order_relaxed));
}

// A run changes without a lock. Its descriptor is whole once the entry says so: acquire, pairs with the release of the
// thread that made the run.
void Walk::Copy::take(const Instance &walked, UnitIndex from, UnitIndex to) {
    first = from;
    end = to;
    words_taken = 0;
    for (UnitIndex u = from; u < to; ++u) {
        const UnitEntry e = std::atomic_ref<UnitEntry>(walked.region().entry(u)).load(std::memory_order_acquire);
        const Superblock *const s = walked.superblocks().descriptor(u);
        Piece &piece = pieces[u.value - from.value];
        const UnitUse awaited = e == kRunEntry ? UnitUse::run : UnitUse::superblock;
        piece.use = s->use == awaited ? awaited : UnitUse::unused;
        piece.units = s->units;
        if (piece.use == UnitUse::superblock) take_superblock(walked.superblocks(), s);
    }
}

// Cached blocks are not in use. The sequences are stopped only while the magazines are read: whatever a sequence did
// before was an allocation or a free. false: the sequences cannot be stopped.
bool Walk::Copy::take_out_cached(Instance &walked) {
    const HeapsSetup &setup = walked.heaps().setup();
    std::optional<platform::SequencesStopped> stopped;
    if (setup.has_sequences()) {
        if (setup.zeroes == nullptr || !stopped.emplace(setup.found_at, setup.zeroes).done()) return false;
    }
    walked.collector_view().for_each_cached([&](const void *p) { take_out(walked, p); });
    return true;
}

// p may be no block at all: the program freed a wrong address, and no check has found it yet.
void Walk::Copy::take_out(const Instance &walked, const void *p) {
    if (!walked.region().contains(p)) return;
    const BlockRef ref = walked.superblocks().find(p);
    if (ref.fault != BlockFault::none || ref.superblock->use != UnitUse::superblock || !has(ref.superblock->unit))
        return;
    const Piece &piece = pieces[ref.superblock->unit.value - first.value];
    const BitPosition at = BitPosition::of(ref.index);
    if (piece.use == UnitUse::superblock) words[piece.first_word + at.word] &= ~at.mask;
}

void Walk::visit(Instance &walked) {
    if (is_over()) return;
    if (platform::Reentry::is_interrupted()) {
        error_ = EBUSY;
        return;
    }
    // Blocks beyond the present end of the region are made after the walk began.
    if (walked.ensure_started()) visit_region(walked, walked.region().unit_end());
    if (is_over()) return;
    walked.direct().for_each([this](void *block, std::size_t bytes) { return visit_block(block, bytes); });
}

// false: the sequences cannot be stopped, so the blocks in use are not known.
bool Walk::copy_part(Instance &walked, UnitIndex from, UnitIndex to, Copy *copy) {
    const AllLocks locks(walked);
    copy->take(walked, from, to);
    return copy->take_out_cached(walked);
}

void Walk::visit_region(Instance &walked, UnitIndex end) {
    auto *const copy = static_cast<Copy *>(platform::map(sizeof(Copy), 1));
    if (copy == nullptr) {
        error_ = ENOMEM;
        return;
    }
    for (UnitIndex u = walked.region().first_unit(); u < end && !is_over(); u = u + UnitCount(kWalkUnits)) {
        const UnitIndex next = u + UnitCount(kWalkUnits);
        if (!copy_part(walked, u, next < end ? next : end, copy)) {
            error_ = ENOTSUP;
        } else {
            visit_copied(walked, *copy);
        }
    }
    platform::unmap(copy, sizeof(Copy));
}

void Walk::visit_copied(const Instance &walked, const Copy &copy) {
    for (UnitIndex u = copy.first; u < copy.end; ++u) {
        const Copy::Piece &piece = copy.pieces[u.value - copy.first.value];
        char *const begin = walked.region().address(u);
        if (piece.use == UnitUse::run && !visit_block(begin, std::size_t{piece.units.value} * kUnitBytes)) return;
        if (piece.use != UnitUse::superblock) continue;
        const ClassShape &shape = shape_of(piece.size_class);
        for (std::uint32_t w = 0; w < shape.words; ++w) {
            for (Word bits = copy.words[piece.first_word + w]; bits != 0; bits &= bits - 1) {
                const std::size_t i = std::size_t{w} * kWordBits + static_cast<unsigned>(std::countr_zero(bits));
                if (!visit_block(begin + i * shape.size, shape.size)) return;
            }
        }
    }
}

}  // namespace gr
