// SPDX-License-Identifier: Apache-2.0 OR MIT
// Serves requests in bytes by classes, runs and direct blocks. A failure leaves the block and errno as they were.

#include "instance/instance.hpp"

#include <cstring>

#include "heap/misuse.hpp"
#include "instance/background.hpp"
#include "instance/instances.hpp"
#include "platform/memory.hpp"
#include "platform/reentry.hpp"

namespace gr {

constinit Instance instance;

// Where the hard limit may have refused the request, tries again after all empty memory was returned to the OS. Then
// tells the program if the soft limit was crossed. A handler that interrupted the heaps does neither: it never waits
// for a lock.
template <class Attempt>
void *Instance::within_limits(std::size_t size, Attempt attempt) {
    void *p = attempt();
    const MemoryLimit &limit = pages_.limit();
    if (p == nullptr && limit.has_hard() && size <= limit.hard() && !platform::Reentry::is_inside()) [[unlikely]]
        p = after_giving_back(attempt);
    // Direct blocks count as held, so less empty memory may stay.
    if (size > kClassLimit) pages_.retain_what_may_stay();
    if (pages_.limit().has_news()) [[unlikely]]
        relieve();
    background.note_and_start();
    return p;
}

// Memory that other threads are returning counts as held until the kernel has it, and another thread may take it then.
// Another attempt is worth it as long as something was returned since the last one.
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
    if (platform::Reentry::is_inside() || !pages_.limit().take_news()) return;
    const PressureCall call = pressure_call_.load(std::memory_order_acquire);
    if (call != nullptr) call(pressure_context_.load(std::memory_order_relaxed), pages_.limit().held());
}

void Instance::on_pressure(PressureCall call, void *context) {
    pressure_call_.store(nullptr, std::memory_order_relaxed);
    pressure_context_.store(context, std::memory_order_relaxed);
    pressure_call_.store(call, std::memory_order_release);
}

void *Instance::allocate(std::size_t size) {
    if (filling_.fills_new()) [[unlikely]]
        return allocate_filled(size);
    return within_limits(size, [&] { return allocate_once(size); });
}

void *Instance::allocate_uncached(ClassIndex c) {
    const std::size_t size = size_of_class(c);
    return within_limits(size, [&] {
        void *const p = ensure_started() ? heaps_.allocate_uncached(c) : nullptr;
        return p != nullptr ? p : direct_.allocate(size, 1);
    });
}

void *Instance::allocate_zeroed(std::size_t size) {
    void *const p = within_limits(size, [&] { return allocate_zeroed_once(size); });
    if (filling_.fills_new()) [[unlikely]]
        return fill_new(p, size);
    return p;
}

void *Instance::allocate_aligned(std::size_t size, std::size_t alignment) {
    void *const p = within_limits(size, [&] {
        bool zeroed = false;
        return allocate_aligned_once(size, alignment, &zeroed);
    });
    if (filling_.fills_new()) [[unlikely]]
        return fill_new(p, 0);
    return p;
}

void *Instance::allocate_aligned_zeroed(std::size_t size, std::size_t alignment) {
    void *const p = within_limits(size, [&] {
        bool zeroed = false;
        void *const block = allocate_aligned_once(size, alignment, &zeroed);
        return block == nullptr ? nullptr : cleared(block, size, zeroed);
    });
    if (filling_.fills_new()) [[unlikely]]
        return fill_new(p, size);
    return p;
}

void *Instance::allocate_run(std::size_t size, std::size_t kept, Contents contents) {
    return within_limits(size, [&]() -> void * {
        bool zeroed = false;
        void *const p = acquire_run(size, 1, kept, &zeroed);
        return p != nullptr && contents == Contents::zero ? cleared(p, size_of(p), zeroed) : p;
    });
}

void *Instance::resize(const char *function, void *p, std::size_t size) {
    const auto attempt = [&] { return resize_once(function, p, size); };
    if (filling_.is_on()) [[unlikely]]
        return resize_filled(function, p, size, attempt);
    return within_limits(size, attempt);
}

void *Instance::resize_aligned(const char *function, void *p, std::size_t size, std::size_t alignment) {
    if (alignment <= kFineStep) return resize(function, p, size);
    const auto attempt = [&] { return resize_aligned_once(function, p, size, alignment); };
    if (filling_.is_on()) [[unlikely]]
        return resize_filled(function, p, size, attempt);
    return within_limits(size, attempt);
}

// Where there is no room, no memory is returned for another attempt: the program moves the block then.
std::size_t Instance::resize_in_place(const char *function, void *p, std::size_t least, std::size_t wanted) {
    const std::size_t old_size = usable_size(function, p);
    const std::size_t most = run_at(p) != nullptr ? largest_run() : kMaxRequest;
    if (wanted > most) wanted = most;
    if (wanted < least) wanted = least;
    const bool is_done = set_size_in_place(p, wanted) || (least > old_size && set_size_in_place(p, least));
    if (!is_done) return old_size < least ? 0 : old_size;
    pages_.retain_what_may_stay();
    if (pages_.limit().has_news()) [[unlikely]]
        relieve();
    // The caller is told the usable size, so the program may have used every byte of the old size: only the rest is
    // new.
    const std::size_t new_size = usable_size(function, p);
    filling_.fill_new(p, old_size, new_size);
    return new_size;
}

// Zeros are made as for calloc, so that memory which the kernel has cleared can stay untouched.
void *Instance::allocate_filled(std::size_t size) {
    if (filling_.zeroes_new()) return allocate_zeroed(size);
    return fill_new(within_limits(size, [&] { return allocate_once(size); }), 0);
}

// Fills from the byte `begin` to the last byte that the program may use.
void *Instance::fill_new(void *p, std::size_t begin) const {
    if (p != nullptr) filling_.fill_new(p, begin, size_of(p));
    return p;
}

template <class Attempt>
void *Instance::resize_filled(const char *function, void *p, std::size_t size, Attempt attempt) {
    const std::size_t old_size = usable_size(function, p);
    void *const to = within_limits(size, attempt);
    if (to != nullptr) fill_resized(p, to, size, old_size);
    return to;
}

// Bytes beyond the old size are new. After a shrink, the usable bytes beyond `size` count as new, too, since the block
// may grow into them again. Where new blocks are not filled and the block stayed, these bytes count as freed.
void Instance::fill_resized(void *from, void *to, std::size_t size, std::size_t old_size) const {
    const std::size_t new_size = size_of(to);
    if (filling_.fills_new()) {
        filling_.fill_new(to, size < old_size ? size : old_size, new_size);
    } else if (to == from) {
        filling_.fill_freed(to, size, old_size < new_size ? old_size : new_size);
    }
}

// An address that is no block ends the program here. A block that is free in a bitmap stays as it is: the heap then
// reports the double free.
void Instance::fill_freed(const char *function, void *p) const {
    const BlockRef ref = superblocks_.find(p);
    if (ref.fault != BlockFault::none) die_of(function, p, ref);
    if (ref.superblock->use == UnitUse::superblock && superblocks_.is_free(ref.superblock, ref.index)) return;
    filling_.fill_freed(p, 0, superblocks_.block_size(ref.superblock));
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
    void *const p = size > kClassLimit ? allocate_large(size, 1, &zeroed) : allocate_once(size);
    return p == nullptr ? nullptr : cleared(p, size, zeroed);
}

void *Instance::cleared(void *p, std::size_t size, bool zeroed) {
    Superblock *const run = size > kClassLimit && size <= kZeroedAtOnce ? run_at(p) : nullptr;
    if (run != nullptr) run->cleared = true;
    if (!zeroed || (run != nullptr && zero_credit_.spend(size))) std::memset(p, 0, size);
    return p;
}

void *Instance::allocate_aligned_once(std::size_t size, std::size_t alignment, bool *zeroed) {
    const ClassIndex c = class_of_aligned(size, alignment);
    if (c.value != 0 && ensure_started()) {
        if (void *const p = heaps_.allocate(c)) return p;
    }
    return allocate_large(size, alignment, zeroed);
}

// Whether whole units waste much more than whole pages.
bool Instance::wastes_units(std::size_t size) {
    const std::size_t in_pages = align_up(size, platform::page_size());
    return align_up(size, kUnitBytes) - in_pages > in_pages / kUnitWasteParts;
}

void *Instance::allocate_large(std::size_t size, std::size_t alignment, bool *zeroed) {
    if (size > kMaxRequest || alignment > kMaxRequest) return nullptr;
    if (region_.is_crowded() && wastes_units(size)) [[unlikely]] {
        if (void *const p = direct_.allocate(size, alignment)) {
            *zeroed = true;
            return p;
        }
    }
    if (void *const p = acquire_run(size, alignment, SIZE_MAX, zeroed)) return p;
    *zeroed = true;
    void *const p = direct_.allocate(size, alignment);
    if (p != nullptr || pages_.limit().has_hard() || !pages_.make_room_outside(size)) return p;
    return direct_.allocate(size, alignment);
}

void *Instance::acquire_run(std::size_t size, std::size_t alignment, std::size_t kept, bool *zeroed) {
    if (!ensure_started() || size > largest_run() || alignment > kChunkBytes) return nullptr;
    const UnitCount count(static_cast<std::uint32_t>(divide_up(size == 0 ? 1 : size, kUnitBytes)));
    const UnitCount step(alignment <= kUnitBytes ? 1U : static_cast<std::uint32_t>(alignment / kUnitBytes));
    return heaps_.store().acquire_run(count, step, heaps_.cpu_group(), kept, zeroed);
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
    if (filling_.fills_freed()) [[unlikely]]
        fill_freed(function, p);
    if (e != kRunEntry) [[likely]] {
        heaps_.free(function, p, e);
    } else {
        free_run(function, p);
    }
    if (region_.is_scarce() && !platform::Reentry::is_inside()) [[unlikely]]
        heaps_.save_addresses();
    background.note();
}

void Instance::free_direct(const char *function, void *p) {
    if (!direct_.release(p)) die_outside(function, p);
}

// p may lie inside a run, in a unit without an entry.
void Instance::die_outside(const char *function, const void *p) const {
    const BlockRef ref = region_.contains(p) ? superblocks_.find(p) : BlockRef{};
    if (ref.fault != BlockFault::foreign) die_of(function, p, ref);
    instances.die_outside(*this, function, p);
}

void Instance::free_run(const char *function, void *p) {
    const BlockRef ref = superblocks_.find(p);
    if (ref.fault != BlockFault::none) die_of(function, p, ref);
    if (ref.superblock->cleared) zero_credit_.earn(ref.superblock->bytes());
    if (ref.superblock->use != UnitUse::run || !heaps_.store().release_run(ref.superblock)) die_foreign(function, p);
}

std::size_t Instance::good_size(std::size_t size) const {
    if (size > kMaxRequest) return 0;
    if (size <= kClassLimit) return size_of_class(class_of(size));
    const bool in_pages = size > largest_run() || (region_.is_crowded() && wastes_units(size));
    return align_up(size, in_pages ? platform::page_size() : kUnitBytes);
}

std::size_t Instance::usable_size(const char *function, const void *p) {
    if (entry_at(p) == 0) {
        const std::size_t size = direct_.size_of(p);
        if (size == 0) die_outside(function, p);
        return size;
    }
    const BlockRef ref = superblocks_.find(p);
    if (ref.fault != BlockFault::none) die_of(function, p, ref);
    const std::size_t size = superblocks_.block_size(ref.superblock);
    if (ref.superblock->use == UnitUse::superblock && superblocks_.is_free(ref.superblock, ref.index)) [[unlikely]]
        die_free(function, p, size);
    return size;
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

// Copies no bytes, but the pages of a direct block may move to another address. nullptr: the block has to move.
inline void *Instance::without_copy(void *p, std::size_t old_size, std::size_t size) {
    if (Superblock *const run = run_at(p)) return resize_run(run, size);
    if (entry_at(p) == 0) return should_remap(old_size, size) ? direct_.resize(p, size) : nullptr;
    return size <= old_size && size * 2 > old_size ? p : nullptr;
}

void *Instance::resize_once(const char *function, void *p, std::size_t size) {
    const std::size_t old_size = usable_size(function, p);
    if (size > kMaxRequest) return nullptr;
    if (void *const same = without_copy(p, old_size, size)) return same;
    return move(function, p, old_size, size);
}

// The kernel may move a direct block's pages to any page boundary. That is not enough for a larger alignment.
void *Instance::resize_aligned_once(const char *function, void *p, std::size_t size, std::size_t alignment) {
    const std::size_t old_size = usable_size(function, p);
    if (size > kMaxRequest) return nullptr;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
    if (is_aligned && entry_at(p) == 0 && alignment > platform::page_size()) {
        if (should_remap(old_size, size) && direct_.resize_in_place(p, size)) return p;
    } else if (is_aligned) {
        if (void *const same = without_copy(p, old_size, size)) return same;
    }
    void *to = size > old_size && size > growth_limit() ? direct_.allocate(size, alignment) : nullptr;
    bool zeroed = false;
    if (to == nullptr) to = allocate_aligned_once(size, alignment, &zeroed);
    if (to == nullptr) return is_aligned && size <= old_size ? p : nullptr;
    return move_to(to, function, p, old_size, size);
}

// false: the size is unchanged.
bool Instance::set_size_in_place(void *p, std::size_t size) {
    if (Superblock *const run = run_at(p)) {
        if (size > largest_run()) return false;
        const UnitCount count(static_cast<std::uint32_t>(divide_up(size == 0 ? 1 : size, kUnitBytes)));
        if (count == run->units) return false;
        // A handler that interrupted the allocator cannot shrink the run, whose end must then stay as it is.
        if (count < run->units && !platform::Reentry::is_inside()) fill_given_up(run, count);
        return heaps_.store().resize_run(run, count);
    }
    return entry_at(p) == 0 && size <= kMaxRequest && direct_.resize_in_place(p, size);
}

// Called before the run becomes shorter, because another thread may get the rest afterwards.
void Instance::fill_given_up(const Superblock *run, UnitCount kept) const {
    filling_.fill_freed(superblocks_.begin(run), std::size_t{kept.value} * kUnitBytes, run->bytes());
}

// nullptr: the block has to move.
void *Instance::resize_run(Superblock *run, std::size_t size) {
    if (size <= kClassLimit || size > largest_run()) return nullptr;
    const UnitCount count(static_cast<std::uint32_t>(divide_up(size, kUnitBytes)));
    if (count < run->units) fill_given_up(run, count);
    // A shrink that fails still leaves the block large enough.
    if (count == run->units || heaps_.store().resize_run(run, count) || count < run->units)
        return superblocks_.begin(run);
    return nullptr;
}

void *Instance::move(const char *function, void *p, std::size_t old_size, std::size_t size) {
    // A block that grows beyond the limit is likely to grow again. As a direct block it then grows without a copy.
    void *to = size > old_size && size > growth_limit() ? direct_.allocate(size, 1) : nullptr;
    if (to == nullptr) to = allocate_once(size);
    if (to == nullptr) return size <= old_size ? p : nullptr;
    return move_to(to, function, p, old_size, size);
}

void *Instance::move_to(void *to, const char *function, void *p, std::size_t old_size, std::size_t size) {
    std::memcpy(to, p, size < old_size ? size : old_size);
    free(function, p);
    return to;
}

}  // namespace gr
