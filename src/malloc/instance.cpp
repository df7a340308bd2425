// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: requests in bytes to classes, runs and direct blocks, and back from an address.
// Invariant: every failure leaves the block and the errno it found.
// Must not know: the C library's and C++'s names for what it does.
#include "malloc/instance.hpp"

#include <cstring>

#include "heap/inside.hpp"
#include "heap/misuse.hpp"
#include "malloc/background.hpp"
#include "malloc/instances.hpp"

namespace gr {

constinit Instance instance;

// Whoever may be refused by the hard limit only tries again, once all that is empty was given back; and tells the program
// that the soft one was crossed. Not for a handler that interrupted the heaps: it never waits for a lock.
template <class Attempt>
void *Instance::within_limits(std::size_t size, Attempt attempt) {
    void *p = attempt();
    const MemoryLimit &limit = pages_.limit();
    if (p == nullptr && limit.has_hard() && size <= limit.hard() && !Inside::is_inside()) [[unlikely]]
        p = after_giving_back(attempt);
    // What is mapped directly takes the place of what was retained.
    if (size > kClassLimit) pages_.retain_what_may_stay();
    if (pages_.limit().has_news()) [[unlikely]]
        relieve();
    background.note_and_start();
    return p;
}

// What others give back at this moment is held, too, until the kernel has it; and may be taken by others then. As long as
// something went back there is hope.
template <class Attempt>
void *Instance::after_giving_back(Attempt attempt) {
    void *p = nullptr;
    std::size_t before = 0;
    for (unsigned i = 0; i < kLimitAttempts && p == nullptr && (i == 0 || given_back_bytes() != before); ++i) {
        before = given_back_bytes();
        trim(0);
        pages_.wait_for_purges();
        p = attempt();
    }
    return p;
}

void Instance::relieve() {
    if (Inside::is_inside() || !pages_.limit().take_news()) return;
    const PressureCall call = pressure_call_.load(std::memory_order_acquire);
    if (call != nullptr) call(pressure_context_.load(std::memory_order_relaxed), pages_.limit().held());
}

void Instance::on_pressure(PressureCall call, void *context) {
    pressure_call_.store(nullptr, std::memory_order_relaxed);
    pressure_context_.store(context, std::memory_order_relaxed);
    pressure_call_.store(call, std::memory_order_release);
}

void *Instance::allocate(std::size_t size) {
    return within_limits(size, [&] { return allocate_once(size); });
}

void *Instance::allocate_zeroed(std::size_t size) {
    return within_limits(size, [&] { return allocate_zeroed_once(size); });
}

void *Instance::allocate_aligned(std::size_t size, std::size_t alignment) {
    return within_limits(size, [&] { return allocate_aligned_once(size, alignment); });
}

void *Instance::resize(const char *function, void *p, std::size_t size) {
    return within_limits(size, [&] { return resize_once(function, p, size); });
}

void *Instance::allocate_once(std::size_t size) {
    if (size > kClassLimit) {
        bool zeroed = false;
        return allocate_large(size, 1, &zeroed);
    }
    if (ensure_started()) {
        if (void *const p = heaps_.allocate(class_of(size))) return p;
    }
    return direct_.allocate(size, 1);
}

void *Instance::allocate_zeroed_once(std::size_t size) {
    bool zeroed = false;
    void *const p = size > kZeroedAtOnce ? allocate_large(size, 1, &zeroed) : allocate_once(size);
    if (p != nullptr && !zeroed) std::memset(p, 0, size);
    return p;
}

void *Instance::allocate_aligned_once(std::size_t size, std::size_t alignment) {
    const ClassIndex c = class_of_aligned(size, alignment);
    if (c.value != 0 && ensure_started()) {
        if (void *const p = heaps_.allocate(c)) return p;
    }
    bool zeroed = false;
    return allocate_large(size, alignment, &zeroed);
}

void *Instance::allocate_large(std::size_t size, std::size_t alignment, bool *zeroed) {
    if (size > kMaxRequest || alignment > kMaxRequest) return nullptr;
    if (ensure_started() && size <= largest_run() && alignment <= kChunkBytes) {
        const UnitCount count(static_cast<std::uint32_t>(divide_up(size == 0 ? 1 : size, kUnitBytes)));
        const UnitCount step(alignment <= kUnitBytes ? 1U : static_cast<std::uint32_t>(alignment / kUnitBytes));
        if (Superblock *const run = heaps_.store().acquire_run(count, step, zeroed)) return superblocks_.begin(run);
    }
    *zeroed = true;
    return direct_.allocate(size, alignment);
}

// The run that starts at p, or nullptr.
Superblock *Instance::run_at(const void *p) const {
    if (entry_at(p) != kRunEntry) return nullptr;
    const BlockRef ref = superblocks_.find(p);
    return ref.fault == BlockFault::none && ref.superblock->use == UnitUse::run ? ref.superblock : nullptr;
}

void Instance::free(const char *function, void *p) {
    const UnitEntry e = entry_at(p);
    if (e == 0) return free_direct(function, p);
    if (e != kRunEntry) [[likely]] {
        heaps_.free(function, p, e);
    } else {
        free_run(function, p);
    }
    if (region_.is_scarce() && !Inside::is_inside()) [[unlikely]]
        heaps_.be_thrifty();
    background.note();
}

void Instance::free_direct(const char *function, void *p) {
    if (!direct_.release(p)) die_outside(function, p);
}

// Inside a run, perhaps.
void Instance::die_outside(const char *function, const void *p) const {
    const BlockRef ref = region_.contains(p) ? superblocks_.find(p) : BlockRef{};
    if (ref.fault != BlockFault::foreign) die_of(function, p, ref);
    instances.die_outside(*this, function, p);
}

void Instance::free_run(const char *function, void *p) {
    const BlockRef ref = superblocks_.find(p);
    if (ref.fault != BlockFault::none) die_of(function, p, ref);
    if (ref.superblock->use != UnitUse::run || !heaps_.store().release_run(ref.superblock)) die_foreign(function, p);
}

std::size_t Instance::usable_size(const char *function, const void *p) {
    if (entry_at(p) == 0) {
        const std::size_t size = direct_.size_of(p);
        if (size == 0) die_outside(function, p);
        return size;
    }
    const BlockRef ref = superblocks_.find(p);
    if (ref.fault != BlockFault::none) die_of(function, p, ref);
    return superblocks_.block_size(ref.superblock);
}

void Instance::die_of(const char *function, const void *p, const BlockRef &ref) const {
    if (ref.fault != BlockFault::interior) die_foreign(function, p);
    die_interior(function, p, superblocks_.address(ref.superblock, ref.index), superblocks_.block_size(ref.superblock));
}

bool Instance::owns(const void *p) const {
    if (entry_at(p) == 0) return p != nullptr && direct_.size_of(p) != 0;
    const BlockRef ref = superblocks_.find(p);
    if (ref.fault != BlockFault::none) return false;
    return ref.superblock->use == UnitUse::run || !superblocks_.is_free(ref.superblock, ref.index);
}

std::size_t Instance::size_of(const void *p) const {
    if (entry_at(p) == 0) return direct_.size_of(p);
    const BlockRef ref = superblocks_.find(p);
    return ref.superblock == nullptr ? 0 : superblocks_.block_size(ref.superblock);
}

void *Instance::resize_once(const char *function, void *p, std::size_t size) {
    const std::size_t old_size = usable_size(function, p);
    if (size > kMaxRequest) return nullptr;
    if (Superblock *const run = run_at(p)) {
        if (void *const same = resize_run(run, size)) return same;
    } else if (entry_at(p) == 0) {
        if (size > kClassLimit && (size > old_size || size * 2 > growth_limit())) {
            if (void *const moved = direct_.resize(p, size)) return moved;
        }
    } else if (size <= old_size && size * 2 > old_size) {
        return p;
    }
    return move(function, p, old_size, size);
}

// nullptr: it has to move.
void *Instance::resize_run(Superblock *run, std::size_t size) {
    if (size <= kClassLimit || size > largest_run()) return nullptr;
    const UnitCount count(static_cast<std::uint32_t>(divide_up(size, kUnitBytes)));
    // A shrink that cannot be done still leaves the block large enough.
    if (count == run->units || heaps_.store().resize_run(run, count) || count < run->units)
        return superblocks_.begin(run);
    return nullptr;
}

void *Instance::move(const char *function, void *p, std::size_t old_size, std::size_t size) {
    // What grows beyond the limit will grow again: mapped directly, it does so without a copy from now on.
    void *to = size > old_size && size > growth_limit() ? direct_.allocate(size, 1) : nullptr;
    if (to == nullptr) to = allocate_once(size);
    if (to == nullptr) return size <= old_size ? p : nullptr;
    std::memcpy(to, p, size < old_size ? size : old_size);
    free(function, p);
    return to;
}

std::size_t Instance::trim(std::size_t keep) {
    if (!ensure_started()) return 0;
    // Above the soft limit what becomes empty goes at once: it counts, too.
    const std::size_t before = given_back_bytes();
    heaps_.reclaim();
    const Inside inside;
    if (!inside.again()) heaps_.sweep();
    pages_.trim(keep);
    return given_back_bytes() - before;
}

void Instance::lock_all(platform::Rank rank) {
    if (state_.load(std::memory_order_acquire) != State::ready) return;
    if (rank == platform::Rank::page_heap) return pages_.mutex().lock_always(rank);
    heaps_.lock_all(rank);
}

void Instance::unlock_all(platform::Rank rank) {
    if (state_.load(std::memory_order_acquire) != State::ready) return;
    if (rank == platform::Rank::page_heap) return pages_.mutex().unlock(rank);
    heaps_.unlock_all(rank);
}

void Instance::settle_all() {
    if (state_.load(std::memory_order_acquire) == State::ready) heaps_.settle_all();
}

const char *Instance::first_fault() {
    if (!ensure_started()) return nullptr;
    heaps_.restore_invariants();
    const Inside inside;  // a handler that interrupts this must not wait for a lock
    for (const platform::Rank rank : kRanks) lock_all(rank);
    const char *fault = heaps_.first_fault();
    if (fault == nullptr && !pages_.is_valid()) fault = "the page heap is not valid";
    for (auto rank = kRanks.rbegin(); rank != kRanks.rend(); ++rank) unlock_all(*rank);
    settle_all();
    return fault;
}

}  // namespace gr
