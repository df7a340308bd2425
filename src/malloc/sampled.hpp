// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the program's requests while a profile counts them: which is sampled, and where a sampled block lies.
// Invariant: while requests are counted, the entries that allocate find no size that is theirs and come here; those that
//    free are left alone, for no block that they could free is sampled: a small one lies in an instance of its own, which
//    they have no entries for, and a large one they never free. So it may begin and end while threads run: whoever sees
//    that late has had one request more uncounted, and whoever gets a sampled block has seen that there are some. While
//    nothing is counted it is asked by slow paths only.
// Must not know: the C library's and C++'s names; what is done with samples.
#pragma once

#include "instance/instance.hpp"
#include "profile/profile.hpp"

namespace gr {

class Sampled {
  public:
    constexpr Sampled() = default;

    // From now on it may start, unless it was forbidden; once, when malloc has started.
    [[gnu::cold]] void open();
    // Before that: the blocks must all lie in malloc's own region, for the reason given.
    void forbid(const char *why) { forbidden_ = why; }

    struct Refusal {
        long error = 0;  // an errno; 0: none
        const char *why = nullptr;
    };
    // Counts from now on, and samples a block in so many bytes; 0: as before, and kProfileMean the first time. With another
    // mean than before it forgets what was sampled.
    [[gnu::cold]] Refusal start(std::size_t mean);
    // Samples no more; what is sampled stays so until it is freed. An errno, or 0.
    [[gnu::cold]] long stop();
    // Forgets what was sampled. An errno, or 0.
    [[gnu::cold]] long reset();

    // Whether there are sampled blocks, perhaps: then those that are freed, resized or looked at are to be asked for here.
    bool is_on() const { return parts_.load(std::memory_order_relaxed) != nullptr; }
    // Whether those that are allocated are. False by mistake for who sees it late.
    bool is_counting() const { return epoch_.load(std::memory_order_relaxed) != 0; }

    // Each counts what is asked for, and samples it when that is due; as malloc's instance does otherwise. `caller` is where
    // the program's call goes on.
    void *allocate(std::size_t size, std::size_t alignment, const void *caller);
    void *allocate_zeroed(std::size_t size, std::size_t alignment, const void *caller);
    [[gnu::nonnull(3)]] void *resize(const char *function, void *p, std::size_t size, const void *caller);
    [[gnu::nonnull(3)]] void *resize_aligned(const char *function, void *p, std::size_t size, std::size_t alignment,
                                             const void *caller);
    [[gnu::nonnull(3)]] std::size_t stretch(const char *function, void *p, std::size_t least, std::size_t wanted,
                                            const void *caller);
    void free(const char *function, void *p);
    bool contains(const void *p) const { return is_on() && parts().beside->region().contains(p); }

    // While it is on.
    Instance &beside() { return *parts().beside; }
    Profile &profile() { return parts().profile; }

    // Around fork; a handler's fork that interrupted a holder locks nothing.
    void lock();
    void unlock();

  private:
    static constexpr platform::Rank kRank = platform::Rank::sampling;
    static constexpr const char *kTooEarly = "the library has not started yet";

    struct Parts {
        Instance *beside = nullptr;
        Profile profile;
    };

    Parts &parts() const { return *parts_.load(std::memory_order_acquire); }
    bool may_wait() const;
    Refusal make();
    bool join(std::uint32_t epoch);
    // By words of the thread's own: a handler that interrupts that may be forgotten.
    bool is_due(std::size_t size) {
        if (size > kMaxRequest) [[unlikely]]
            return false;
        const std::uint32_t epoch = epoch_.load(std::memory_order_relaxed);
        if (epoch != joined_ && !join(epoch)) [[unlikely]]
            return false;
        left_ -= static_cast<std::int64_t>(size);
        return left_ <= 0 && is_due_now(size);
    }
    bool is_due_now(std::size_t size);
    void note(const void *p, std::size_t size, const void *caller);
    void *allocate_beside(std::size_t size, std::size_t alignment);
    void *sample(std::size_t size, std::size_t alignment, const void *caller);
    void *resize_in_place(const char *function, void *p, std::size_t size, bool due, const void *caller);

    static thread_local constinit std::int64_t left_;     // bytes to the thread's next sample; 0: not drawn yet
    static thread_local constinit std::uint32_t joined_;  // the epoch that this was drawn in

    // In pages of their own, which a process without a profile need not have. Release, with the acquire of who looks
    // into them; who sees it late has not been counted.
    std::atomic<Parts *> parts_{nullptr};
    // The generation of the profile that requests are counted for; 0: they are not. Release, after what a thread finds
    // when it joins that: acquire.
    std::atomic<std::uint32_t> epoch_{0};
    platform::Mutex mutex_;      // of whoever starts, stops or resets, and of what follows
    Parts *made_ = nullptr;      // become parts_ when all of them are there
    unsigned forks_within_ = 0;  // by handlers that interrupted the holder of the lock
    const char *folder_ = nullptr;
    const char *forbidden_ = kTooEarly;
};

inline thread_local constinit std::int64_t Sampled::left_ = 0;
inline thread_local constinit std::uint32_t Sampled::joined_ = 0;

extern Sampled sampled;

// Whose block it is, of the two that the libc names serve.
inline Instance &instance_of(const void *p) { return sampled.contains(p) ? sampled.beside() : instance; }

// What malloc_trim does: of the sampled blocks' instance nothing is kept.
inline std::size_t trim_for_program(std::size_t keep) {
    return instance.trim(keep) + (sampled.is_on() ? sampled.beside().trim(0) : 0);
}

// As the libc names ask for it.
inline void *allocate_for_program(std::size_t size, std::size_t alignment, const void *caller) {
    if (sampled.is_counting()) [[unlikely]]
        return sampled.allocate(size, alignment, caller);
    return alignment <= kFineStep ? instance.allocate(size) : instance.allocate_aligned(size, alignment);
}

}  // namespace gr
