// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the program's requests while GRANARY_PROFILE counts them: which is sampled, and where a sampled block lies.
// Invariant: while it is on, the entries that allocate find no size that is theirs and come here; those that free are left
//            alone, for no block that they could free is sampled: a small one lies in an instance of its own, which they
//            have no entries for, and a large one they never free. While it is off it is asked by slow paths only.
// Must not know: the C library's and C++'s names; what is done with samples.
#pragma once

#include "malloc/instance.hpp"
#include "profile/profile.hpp"

namespace gr {

class Sampled {
  public:
    constexpr Sampled() = default;

    // Once, by malloc's options, when it has started. From then on there is no way back.
    void begin();
    // Before that: the blocks must all lie in malloc's own region, for the reason given.
    void forbid(const char *why) { forbidden_ = why; }

    bool is_on() const { return on_.load(std::memory_order_relaxed); }
    // Whether a request is to be sampled. It is counted, by a word of the thread's own: a handler that interrupts that
    // may be forgotten.
    bool is_due(std::size_t size) {
        if (size > kMaxRequest) [[unlikely]]
            return false;
        left_ -= static_cast<std::int64_t>(size);
        return left_ <= 0 && is_due_now(size);
    }

    // A sampled block; as any other where it cannot be sampled. `caller` is where the program's call goes on.
    void *allocate(std::size_t size, std::size_t alignment, const void *caller);
    void *allocate_zeroed(std::size_t size, const void *caller);
    // Counts the new size.
    [[gnu::nonnull(3)]] void *resize(const char *function, void *p, std::size_t size, const void *caller);
    // What is to be done before malloc's instance frees it; true: it has been freed.
    bool free(const char *function, void *p);
    bool contains(const void *p) const { return is_on() && beside_.region().contains(p); }

    Instance &beside() { return beside_; }
    Profile &profile() { return profile_; }

  private:
    bool is_due_now(std::size_t size);
    const char *refusal();
    void note(const void *p, std::size_t size, const void *caller);
    void *allocate_beside(std::size_t size, std::size_t alignment);
    void *resize_in_place(const char *function, void *p, std::size_t size, bool due, const void *caller);

    static thread_local constinit std::int64_t left_;  // bytes to the thread's next sample; 0: not drawn yet

    std::atomic<bool> on_{false};  // release, after all else; who sees it late has not been counted
    const char *forbidden_ = nullptr;
    Instance beside_;
    Profile profile_;
};

inline thread_local constinit std::int64_t Sampled::left_ = 0;

extern Sampled sampled;

// Whose block it is, of the two that the libc names serve.
inline Instance &instance_of(const void *p) { return sampled.contains(p) ? sampled.beside() : instance; }

// What malloc_trim does: of the sampled blocks' instance nothing is kept.
inline std::size_t trim_for_program(std::size_t keep) {
    return instance.trim(keep) + (sampled.is_on() ? sampled.beside().trim(0) : 0);
}

// From a magazine; nullptr: the slow path is to be asked. What keeps the coarse classes from the assembly is only the
// arithmetic of their class.
inline void *pop_cached(std::size_t size) {
    const platform::SequenceState &state = platform::gr_sequence_state;
    if (size - 1 >= kClassLimit || state.slabs == nullptr) return nullptr;
    return platform::gr_sequence_pop(magazine_of(class_of(size)), &state.slabs);
}

// As the libc names ask for it.
inline void *allocate_for_program(std::size_t size, std::size_t alignment, const void *caller) {
    if (sampled.is_on() && sampled.is_due(size)) [[unlikely]]
        return sampled.allocate(size, alignment, caller);
    return alignment <= kFineStep ? instance.allocate(size) : instance.allocate_aligned(size, alignment);
}

}  // namespace gr
