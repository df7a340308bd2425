// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the program's requests while GRANARY_PROFILE counts them: which is sampled, and where a sampled block lies.
// Invariant: while it is on, the entries that allocate find no size that is theirs and come here; those that free are
//    left alone, for no block that they could free is sampled: a small one lies in an instance of its own, which they
//    have no entries for, and a large one they never free. While it is off it is asked by slow paths only.
// Must not know: the C library's and C++'s names; what is done with samples.
#pragma once

#include "malloc/instance.hpp"
#include "profile/profile.hpp"

namespace gr {

class Sampled {
  public:
    constexpr Sampled() = default;

    // Once, by malloc's options, when it has started. From then on there is no way back.
    [[gnu::cold]] void begin();
    // Before that: the blocks must all lie in malloc's own region, for the reason given.
    void forbid(const char *why) { forbidden_ = why; }

    bool is_on() const { return parts_.load(std::memory_order_relaxed) != nullptr; }

    // Each counts what is asked for, and samples it when that is due; as malloc's instance does otherwise. `caller` is where
    // the program's call goes on.
    void *allocate(std::size_t size, std::size_t alignment, const void *caller);
    void *allocate_zeroed(std::size_t size, const void *caller);
    [[gnu::nonnull(3)]] void *resize(const char *function, void *p, std::size_t size, const void *caller);
    void free(const char *function, void *p);
    bool contains(const void *p) const { return is_on() && parts().beside->region().contains(p); }

    // While it is on.
    Instance &beside() { return *parts().beside; }
    Profile &profile() { return parts().profile; }

  private:
    struct Parts {
        Instance *beside = nullptr;
        Profile profile;
    };

    Parts &parts() const { return *parts_.load(std::memory_order_acquire); }
    const char *refusal(Parts *parts) const;
    // By a word of the thread's own: a handler that interrupts that may be forgotten.
    bool is_due(std::size_t size) {
        if (size > kMaxRequest) [[unlikely]]
            return false;
        left_ -= static_cast<std::int64_t>(size);
        return left_ <= 0 && is_due_now(size);
    }
    bool is_due_now(std::size_t size);
    void note(const void *p, std::size_t size, const void *caller);
    void *allocate_beside(std::size_t size, std::size_t alignment);
    void *sample(std::size_t size, std::size_t alignment, const void *caller);
    void *resize_in_place(const char *function, void *p, std::size_t size, bool due, const void *caller);

    static thread_local constinit std::int64_t left_;  // bytes to the thread's next sample; 0: not drawn yet

    // In pages of their own, which a process without a profile need not have. Release, with the acquire of who looks
    // into them; who sees it late has not been counted.
    std::atomic<Parts *> parts_{nullptr};
    const char *forbidden_ = nullptr;
};

inline thread_local constinit std::int64_t Sampled::left_ = 0;

extern Sampled sampled;

// Whose block it is, of the two that the libc names serve.
inline Instance &instance_of(const void *p) { return sampled.contains(p) ? sampled.beside() : instance; }

// What malloc_trim does: of the sampled blocks' instance nothing is kept.
inline std::size_t trim_for_program(std::size_t keep) {
    return instance.trim(keep) + (sampled.is_on() ? sampled.beside().trim(0) : 0);
}

// From a magazine, where there are sequences and a class for the size; nullptr: the slow path is to be asked.
inline void *pop_cached(std::size_t size) {
    return platform::gr_sequence_pop(magazine_of(class_of(size)), &platform::gr_sequence_state.slabs);
}

// As the libc names ask for it.
inline void *allocate_for_program(std::size_t size, std::size_t alignment, const void *caller) {
    if (sampled.is_on()) [[unlikely]]
        return sampled.allocate(size, alignment, caller);
    return alignment <= kFineStep ? instance.allocate(size) : instance.allocate_aligned(size, alignment);
}

}  // namespace gr
