// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: sampled.hpp.
// Invariant: a sample is noted before the program has its block, and forgotten before anybody else can have it. Who
//    interrupted the heaps samples nothing.
// Must not know: the C library's and C++'s names; what is done with samples.
#include "malloc/sampled.hpp"

#include <cstring>
#include <new>

#include "heap/inside.hpp"
#include "malloc/instances.hpp"
#include "platform/memory.hpp"
#include "platform/process.hpp"

namespace gr {

constinit Sampled sampled;

namespace {

// One that a class has is small.
bool is_small(std::size_t size, std::size_t alignment) {
    return size <= kClassLimit && class_of_aligned(size, alignment).value != 0;
}

// As malloc's entry would, if it had not been told to leave all alone.
void *allocate_as_ever(std::size_t size, std::size_t alignment) {
    if (alignment > kFineStep) return instance.allocate_aligned(size, alignment);
    if (size - 1 < kClassLimit && platform::gr_sequence_state.slabs != nullptr) {
        if (void *const p = pop_cached(size)) return p;
    }
    return instance.allocate(size);
}

}  // namespace

const char *Sampled::refusal(Parts *parts) const {
    constexpr const char *kNoAddresses = "the kernel refused address space";
    if (forbidden_ != nullptr) return forbidden_;
    if (instance.region().is_scarce()) return "the limit on address space (RLIMIT_AS) is too low; raise it";
    const Options &options = instance.options();
    const auto *const folder = reinterpret_cast<const char *>(options.profile_folder);
    if (folder != nullptr && std::strlen(folder) >= Profile::kFolderBytes)
        return "the path in GRANARY_PROFILE_FOLDER is too long; choose a shorter one";
    if (parts == nullptr) return kNoAddresses;
    const std::uint64_t seed = platform::nanoseconds() ^ std::uint64_t{platform::process_id()} << 32;
    if (!parts->profile.begin(options.profile, seed, folder))
        return "the kernel refused address space, or the C library cannot find unwind tables (glibc 2.35 can)";
    gr_heap *const heap = instances.make(0, "free");
    if (heap == nullptr) return kNoAddresses;
    parts->beside = &heap->instance;
    return nullptr;
}

void Sampled::begin() {
    if (instance.options().profile == 0 || is_on() || !instance.ensure_started()) return;
    void *const pages = platform::map(sizeof(Parts), 1);
    Parts *const parts = pages == nullptr ? nullptr : ::new (pages) Parts;
    if (const char *const why = refusal(parts)) {
        TextBuffer<256> line;
        line << "granary: no profile is taken: " << why << '\n';
        platform::write_all(2, line.data(), line.size());
        if (pages != nullptr) platform::unmap(pages, sizeof(Parts));
        return;
    }
    // A block that the kernel mapped would be nobody's to whoever frees it.
    parts->beside->forbid_direct();
    instance.take_companion(parts->beside);
    parts_.store(parts, std::memory_order_release);
    std::atomic_ref(platform::gr_sequence_state.size_limit).store(0, std::memory_order_release);
}

// Of a thread's first request the gap is drawn now; else it has gone by, and the next begins behind this block.
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

void Sampled::note(const void *p, std::size_t size, const void *caller) {
    if (Inside::is_inside()) return profile().miss();
    profile().note(p, size, caller);
}

void *Sampled::allocate_beside(std::size_t size, std::size_t alignment) {
    return alignment <= kFineStep ? beside().allocate(size) : beside().allocate_aligned(size, alignment);
}

// One that cannot be sampled is as any other.
void *Sampled::sample(std::size_t size, std::size_t alignment, const void *caller) {
    const bool small = is_small(size, alignment);
    void *p = small && !Inside::is_inside() ? allocate_beside(size, alignment) : nullptr;
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

void *Sampled::allocate_zeroed(std::size_t size, const void *caller) {
    const bool due = is_due(size);
    if (size <= kFineLimit || (due && is_small(size, 1))) {
        void *const p = due ? sample(size, 1, caller) : allocate_as_ever(size, 1);
        return p == nullptr ? nullptr : std::memset(p, 0, size);
    }
    void *const p = instance.allocate_zeroed(size);
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

// As malloc's instance does it, of one of its blocks, which is large if it is sampled. Where that fails the old block stands,
// and so does its sample; as it does where it cannot be counted now.
void *Sampled::resize_in_place(const char *function, void *p, std::size_t size, bool due, const void *caller) {
    Sample old;
    const bool was_sampled = profile().take_out(p, &old);
    void *const to = instance.resize(function, p, size);
    if (was_sampled && (to == nullptr || !profile().count_out(old))) profile().put_back(to == nullptr ? p : to, old);
    if (to != nullptr && due) note(to, size, caller);
    return to;
}

}  // namespace gr
