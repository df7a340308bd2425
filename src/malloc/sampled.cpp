// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: sampled.hpp.
// Invariant: a sample is noted before the program has its block, and forgotten before anybody else can have it. Who
//            interrupted the heaps samples nothing.
// Must not know: the C library's and C++'s names; what is done with samples.
#include "malloc/sampled.hpp"

#include <cstring>

#include "heap/inside.hpp"
#include "malloc/instances.hpp"
#include "platform/process.hpp"

namespace gr {

constinit Sampled sampled;

namespace {

// One that a class has is small.
bool is_small(std::size_t size, std::size_t alignment) {
    return size <= kClassLimit && class_of_aligned(size, alignment).value != 0;
}

}  // namespace

const char *Sampled::refusal() {
    if (forbidden_ != nullptr) return forbidden_;
    if (instance.region().is_scarce()) return "the process may have too few addresses (RLIMIT_AS); raise the limit";
    const Options &options = instance.options();
    const auto *const folder = reinterpret_cast<const char *>(options.profile_folder);
    if (folder != nullptr && std::strlen(folder) >= Profile::kFolderBytes)
        return "the name of GRANARY_PROFILE_FOLDER is too long; name another";
    const std::uint64_t seed = platform::nanoseconds() ^ std::uint64_t{platform::process_id()} << 32;
    if (!profile_.begin(options.profile, seed, folder))
        return "the kernel refused addresses, or libc cannot tell where code lies (glibc 2.35 can)";
    if (!beside_.start_beside(instance, 0, "free")) return "the kernel refused addresses";
    return nullptr;
}

void Sampled::begin() {
    if (instance.options().profile == 0 || is_on() || !instance.ensure_started()) return;
    if (const char *const why = refusal()) {
        TextBuffer<256> line;
        line << "granary: no profile is taken: " << why << '\n';
        platform::write_all(2, line.data(), line.size());
        return;
    }
    // A block that the kernel mapped would be nobody's to whoever frees it.
    beside_.forbid_direct();
    instances.add(beside_);
    instance.take_companion(&beside_);
    on_.store(true, std::memory_order_release);
    std::atomic_ref(platform::gr_sequence_state.size_limit).store(0, std::memory_order_release);
}

// Of a thread's first request the gap is drawn now; else it has gone by, and the next begins behind this block.
bool Sampled::is_due_now(std::size_t size) {
    const std::int64_t before = left_ + static_cast<std::int64_t>(size);
    const std::int64_t gap = profile_.gap();
    if (before != 0) {
        left_ = gap;
        return true;
    }
    const bool is_due = size >= static_cast<std::uint64_t>(gap);
    left_ = is_due ? profile_.gap() : gap - static_cast<std::int64_t>(size);
    return is_due;
}

void Sampled::note(const void *p, std::size_t size, const void *caller) {
    if (Inside::is_inside()) return profile_.miss();
    profile_.note(p, size, caller);
}

void *Sampled::allocate_beside(std::size_t size, std::size_t alignment) {
    return alignment <= kFineStep ? beside_.allocate(size) : beside_.allocate_aligned(size, alignment);
}

void *Sampled::allocate(std::size_t size, std::size_t alignment, const void *caller) {
    const bool small = is_small(size, alignment);
    void *p = small && !Inside::is_inside() ? allocate_beside(size, alignment) : nullptr;
    if (p == nullptr) {
        p = alignment <= kFineStep ? instance.allocate(size) : instance.allocate_aligned(size, alignment);
        if (p == nullptr) return nullptr;
        if (small) {
            profile_.miss();
            return p;
        }
    }
    note(p, size, caller);
    return p;
}

void *Sampled::allocate_zeroed(std::size_t size, const void *caller) {
    if (is_small(size, 1)) {
        void *const p = allocate(size, 1, caller);
        return p == nullptr ? nullptr : std::memset(p, 0, size);
    }
    void *const p = instance.allocate_zeroed(size);
    if (p != nullptr) note(p, size, caller);
    return p;
}

bool Sampled::free(const char *function, void *p) {
    profile_.forget(p);
    if (!beside_.region().contains(p)) return false;
    beside_.free(function, p);
    return true;
}

void *Sampled::resize(const char *function, void *p, std::size_t size, const void *caller) {
    const std::size_t old_size = instance_of(p).usable_size(function, p);
    if (size > kMaxRequest) return nullptr;
    const bool due = is_due(size);
    const bool moves = contains(p) || (due && is_small(size, 1));
    if (!moves) return resize_in_place(function, p, size, due, caller);
    void *const to = due ? allocate(size, 1, caller) : instance.allocate(size);
    if (to == nullptr) return size <= old_size ? p : nullptr;
    std::memcpy(to, p, size < old_size ? size : old_size);
    if (!free(function, p)) instance.free(function, p);
    return to;
}

// As malloc's instance does it, of one of its blocks, which is large if it is sampled. Where that fails the old block stands,
// and so does its sample; as it does where it cannot be counted now.
void *Sampled::resize_in_place(const char *function, void *p, std::size_t size, bool due, const void *caller) {
    Sample old;
    const bool was_sampled = profile_.take_out(p, &old);
    void *const to = instance.resize(function, p, size);
    if (was_sampled && (to == nullptr || !profile_.count_out(old))) profile_.put_back(to == nullptr ? p : to, old);
    if (to != nullptr && due) note(to, size, caller);
    return to;
}

}  // namespace gr
