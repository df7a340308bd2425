// SPDX-License-Identifier: Apache-2.0 OR MIT
// A sample is noted before the program has its block, and forgotten before another thread can have that block.

#include "malloc/sampled.hpp"

#include <cerrno>
#include <cstring>
#include <new>

#include "base/bits.hpp"
#include "instance/instances.hpp"
#include "malloc/profile_tables.hpp"
#include "malloc/requests.hpp"
#include "platform/clock.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"
#include "platform/reentry.hpp"

namespace gr {

constinit Sampled sampled;

namespace {

// A block that a size class serves is small.
bool is_small(std::size_t size, std::size_t alignment) {
    return size <= kClassLimit && class_of_aligned(size, alignment).value != 0;
}

// Allocates as malloc's entry would if its limit were not 0.
void *allocate_as_ever(std::size_t size, std::size_t alignment) {
    if (alignment > kFineStep) return instance.allocate_aligned(size, alignment);
    if (size - 1 < kClassLimit && platform::gr_sequence_state.slabs != nullptr && !instance.filling().fills_new()) {
        if (void *const p = pop_cached(class_of(size))) return p;
    }
    return instance.allocate(size);
}

}  // namespace

// The folder's name is copied, since the program may write over its environment.
void Sampled::open() {
    if (forbidden_ == kTooEarly) forbidden_ = nullptr;
    const auto *const folder = reinterpret_cast<const char *>(instance.options().profile_folder);
    if (folder == nullptr) return;
    const std::size_t bytes = std::strlen(folder) + 1;
    void *const kept = platform::map(align_up(bytes, platform::page_size()), 1);
    folder_ = kept == nullptr ? folder : static_cast<const char *>(std::memcpy(kept, folder, bytes));
}

// A handler that interrupted the heaps must not wait, and the holder of the profile's lock must not either.
bool Sampled::may_wait() const {
    return !platform::Reentry::is_interrupted() && (!is_on() || parts().profile.may_wait());
}

// The lock is held. After a failure, what was made stays for the next attempt.
Sampled::Refusal Sampled::make() {
    constexpr const char *kNoAddresses = "the kernel refused address space";
    if (forbidden_ != nullptr) return {ENOTSUP, forbidden_};
    if (!instance.ensure_started()) return {ENOMEM, kNoAddresses};
    if (instance.region().is_scarce()) return {ENOTSUP, kTooScarce};
    if (!platform::StackWalk::is_possible())
        return {ENOTSUP, "the C library cannot find unwind tables (glibc 2.35 can)"};
    if (folder_ != nullptr && std::strlen(folder_) >= Profile::kFolderBytes)
        return {ENAMETOOLONG, "the path in GRANARY_PROFILE_FOLDER is too long; choose a shorter one"};
    if (made_ == nullptr) {
        void *const pages = platform::map(sizeof(Parts), 1);
        if (pages == nullptr) return {ENOMEM, kNoAddresses};
        made_ = ::new (pages) Parts;
    }
    const std::uint64_t seed = platform::nanoseconds() ^ std::uint64_t{platform::process_id()} << 32;
    if (!made_->profile.begin(seed, folder_, instance.options().profile_every)) return {ENOMEM, kNoAddresses};
    gr_heap *const heap = instances.make(0, "free");
    if (heap == nullptr) return {ENOMEM, kNoAddresses};
    made_->beside = &heap->instance;
    // A direct block lies outside the region, so free would not find its instance. hold() keeps other threads from
    // setting options of the instance meanwhile.
    instances.hold([&] { made_->beside->forbid_direct(); });
    instance.take_companion(made_->beside);
    parts_.store(made_, std::memory_order_release);
    return {};
}

Sampled::Refusal Sampled::start(std::size_t mean) {
    if (mean > kProfileMeanMost) return {EINVAL, "a mean of so many bytes is too large"};
    constexpr Refusal kBusy{EBUSY, "the allocator was interrupted"};
    if (!may_wait()) return kBusy;
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return kBusy;
    if (!is_on()) {
        if (const Refusal refusal = make(); refusal.error != 0) return refusal;
    }
    if (mean == 0 && profile().mean() == 0) mean = kProfileMean;
    epoch_.store(profile().start(mean), std::memory_order_release);
    publish_tables(profile());
    instance.let_entry_allocate(false);
    return {};
}

long Sampled::stop() {
    if (!may_wait()) return EBUSY;
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return EBUSY;
    if (!is_on()) return ENOTSUP;
    epoch_.store(0, std::memory_order_relaxed);
    profile().stop();
    instance.let_entry_allocate(true);
    return 0;
}

long Sampled::reset() {
    if (!may_wait()) return EBUSY;
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return EBUSY;
    if (!is_on()) return ENOTSUP;
    epoch_.store(profile().reset(), std::memory_order_release);
    publish_tables(profile());
    return 0;
}

void Sampled::lock() {
    if (forbidden_ != nullptr) return;
    if (mutex_.held_by_me()) {
        ++forks_within_;
    } else if (may_wait()) {
        mutex_.lock_always(kRank);
    }
    if (is_on()) profile().lock();
}

void Sampled::unlock() {
    if (is_on()) profile().unlock();
    if (!mutex_.held_by_me()) return;
    if (forks_within_ != 0) {
        --forks_within_;
    } else {
        mutex_.unlock(kRank);
    }
}

// A gap that the thread drew before is for the mean of that time only, so it is dropped. The fence pairs with the
// release stores of epoch_. false: nothing is counted.
bool Sampled::join(std::uint32_t epoch) {
    if (epoch == 0) return false;
    std::atomic_thread_fence(std::memory_order_acquire);
    joined_ = epoch;
    left_ = 0;
    return true;
}

// At a thread's first request of an epoch the gap is drawn here. Otherwise the gap has gone by, and the next one begins
// behind this block.
bool Sampled::is_due_now(std::size_t size) {
    const std::int64_t before = left_ + static_cast<std::int64_t>(size);
    const std::int64_t gap = profile().gap();
    if (before != 0) {
        left_ = gap;
        return true;
    }
    const bool is_due = size >= static_cast<std::uint64_t>(gap);
    left_ = is_due ? profile().gap() : gap - static_cast<std::int64_t>(size);
    return is_due;
}

// A handler that interrupted the heaps notes no sample.
void Sampled::note(const void *p, std::size_t size, const void *caller) {
    if (platform::Reentry::is_inside()) return profile().miss();
    profile().note(p, size, caller, joined_);
}

void *Sampled::allocate_beside(std::size_t size, std::size_t alignment) {
    return alignment <= kFineStep ? beside().allocate(size) : beside().allocate_aligned(size, alignment);
}

// A block that cannot be sampled is served like any other.
void *Sampled::sample(std::size_t size, std::size_t alignment, const void *caller) {
    const bool small = is_small(size, alignment);
    void *p = small && !platform::Reentry::is_inside() ? allocate_beside(size, alignment) : nullptr;
    if (p == nullptr) {
        p = allocate_as_ever(size, alignment);
        if (p == nullptr) return nullptr;
        if (small) {
            profile().miss();
            return p;
        }
    }
    note(p, size, caller);
    return p;
}

void *Sampled::allocate(std::size_t size, std::size_t alignment, const void *caller) {
    if (is_due(size)) [[unlikely]]
        return sample(size, alignment, caller);
    return allocate_as_ever(size, alignment);
}

void *Sampled::allocate_zeroed(std::size_t size, std::size_t alignment, const void *caller) {
    const bool due = is_due(size);
    if (size <= kFineLimit || (due && is_small(size, alignment))) {
        void *const p = due ? sample(size, alignment, caller) : allocate_as_ever(size, alignment);
        return p == nullptr ? nullptr : std::memset(p, 0, size);
    }
    void *const p =
        alignment <= kFineStep ? instance.allocate_zeroed(size) : instance.allocate_aligned_zeroed(size, alignment);
    if (p != nullptr && due) note(p, size, caller);
    return p;
}

void Sampled::free(const char *function, void *p) {
    profile().forget(p);
    instance_of(p).free(function, p);
}

void *Sampled::resize(const char *function, void *p, std::size_t size, const void *caller) {
    const std::size_t old_size = instance_of(p).usable_size(function, p);
    if (size > kMaxRequest) return nullptr;
    const bool due = is_due(size);
    const bool moves = contains(p) || (due && is_small(size, 1));
    if (!moves) return resize_in_place(function, p, size, due, caller);
    void *const to = due ? sample(size, 1, caller) : allocate_as_ever(size, 1);
    if (to == nullptr) return size <= old_size ? p : nullptr;
    std::memcpy(to, p, size < old_size ? size : old_size);
    free(function, p);
    return to;
}

// A large block stays in place if it can. All others move, which costs a copy only once there is a profile.
void *Sampled::resize_aligned(const char *function, void *p, std::size_t size, std::size_t alignment,
                              const void *caller) {
    if (alignment <= kFineStep) return resize(function, p, size, caller);
    const std::size_t old_size = instance_of(p).usable_size(function, p);
    if (size > kMaxRequest) return nullptr;
    const bool is_aligned = reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
    if (is_aligned && size > kClassLimit && stretch(function, p, size, size, caller) != 0) return p;
    void *const to = allocate(size, alignment, caller);
    if (to == nullptr) return is_aligned && size <= old_size ? p : nullptr;
    std::memcpy(to, p, size < old_size ? size : old_size);
    free(function, p);
    return to;
}

// A block that gets another size counts as released and requested anew, though it stays where it is.
std::size_t Sampled::stretch(const char *function, void *p, std::size_t least, std::size_t wanted, const void *caller) {
    Instance &of = instance_of(p);
    const std::size_t old_size = of.usable_size(function, p);
    Sample old;
    const bool was_sampled = profile().take_out(p, &old);
    const std::size_t size = of.resize_in_place(function, p, least, wanted);
    const bool is_changed = size != 0 && size != old_size;
    if (was_sampled && (!is_changed || !profile().count_out(old))) {
        profile().put_back(p, old);
    } else if (is_changed && is_due(size)) {
        note(p, size, caller);
    }
    return size;
}

// Resizes a block of malloc's instance; such a block is large if it is sampled. If this fails, the old block stays, and
// so does its sample. The sample also stays if it cannot be counted out now.
void *Sampled::resize_in_place(const char *function, void *p, std::size_t size, bool due, const void *caller) {
    Sample old;
    const bool was_sampled = profile().take_out(p, &old);
    void *const to = instance.resize(function, p, size);
    if (was_sampled && (to == nullptr || !profile().count_out(old))) profile().put_back(to == nullptr ? p : to, old);
    if (to != nullptr && due) note(to, size, caller);
    return to;
}

}  // namespace gr
