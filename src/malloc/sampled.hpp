// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: serves the program's requests while a profile counts them: which request is sampled, and where its block lies.
// Invariant: while requests are counted, the entries that allocate serve no size, so every request comes here. The
//    entries that free stay as they are, because they can free no sampled block: a small one lies in an instance of its
//    own, which these entries do not know, and a large one is never freed by them. So a profile may begin and end while
//    threads run: a thread that sees the beginning late has more requests uncounted, and a thread that gets a sampled
//    block has seen the profile. While nothing is counted, only slow paths ask here.
// Must not know: the C library's and C++'s names; what is done with samples.
#pragma once

#include "instance/instance.hpp"
#include "profile/profile.hpp"

namespace gr {

class Sampled {
  public:
    constexpr Sampled() = default;

    // From now on a profile may start, unless forbid() was called. Called once, when malloc has started.
    [[gnu::cold]] void open();
    // Called before open(): no profile may start, because all blocks must lie in malloc's own region. `why` is the
    // reason for the user.
    void forbid(const char *why) { forbidden_ = why; }

    struct Refusal {
        long error = 0;  // an errno; 0: none
        const char *why = nullptr;
    };
    // Counts requests from now on, and samples a block every `mean` bytes on average. 0: the mean of before, or
    // kProfileMean the first time. Another mean than before forgets what was sampled.
    [[gnu::cold]] Refusal start(std::size_t mean);
    // Stops sampling. Sampled blocks stay sampled until they are freed. Returns an errno, or 0.
    [[gnu::cold]] long stop();
    // Forgets what was sampled. Returns an errno, or 0.
    [[gnu::cold]] long reset();

    // Whether there may be sampled blocks. If so, pass blocks that are freed, resized or looked up to this class.
    bool is_on() const { return parts_.load(std::memory_order_relaxed) != nullptr; }
    // Whether requests are counted. If so, pass them to this class. A thread that sees the start late reads false.
    bool is_counting() const { return epoch_.load(std::memory_order_relaxed) != 0; }

    // Each counts the request, and samples the block when a sample is due; otherwise it does what malloc's instance
    // does. `caller` is the address at which the program goes on after its call.
    void *allocate(std::size_t size, std::size_t alignment, const void *caller);
    void *allocate_zeroed(std::size_t size, std::size_t alignment, const void *caller);
    [[gnu::nonnull(3)]] void *resize(const char *function, void *p, std::size_t size, const void *caller);
    [[gnu::nonnull(3)]] void *resize_aligned(const char *function, void *p, std::size_t size, std::size_t alignment,
                                             const void *caller);
    [[gnu::nonnull(3)]] std::size_t stretch(const char *function, void *p, std::size_t least, std::size_t wanted,
                                            const void *caller);
    void free(const char *function, void *p);
    bool contains(const void *p) const { return is_on() && parts().beside->region().contains(p); }

    // Only while is_on().
    Instance &beside() { return *parts().beside; }
    Profile &profile() { return parts().profile; }

    // Around fork. A fork by a handler that interrupted the lock's holder locks nothing.
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
    // Uses the thread's own words only. What a handler that interrupts this counts may be lost.
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
    static thread_local constinit std::uint32_t joined_;  // the epoch that left_ was drawn in

    // In pages of their own, which a process without a profile does not have. Release, pairs with the acquire in
    // parts(). A thread that sees the store late is not counted yet.
    std::atomic<Parts *> parts_{nullptr};
    // The generation of the profile for which requests are counted; 0: they are not counted. Release, pairs with the
    // acquire fence in join(): a thread that joins finds what was prepared before.
    std::atomic<std::uint32_t> epoch_{0};
    platform::Mutex mutex_;      // held by start, stop and reset; protects what follows
    Parts *made_ = nullptr;      // becomes parts_ when all parts are there
    unsigned forks_within_ = 0;  // forks by handlers that interrupted the lock's holder
    const char *folder_ = nullptr;
    const char *forbidden_ = kTooEarly;
};

inline thread_local constinit std::int64_t Sampled::left_ = 0;
inline thread_local constinit std::uint32_t Sampled::joined_ = 0;

extern Sampled sampled;

// The instance that serves p: malloc's, or the instance of the sampled blocks.
inline Instance &instance_of(const void *p) { return sampled.contains(p) ? sampled.beside() : instance; }

// What malloc_trim does. In the instance of the sampled blocks nothing is retained.
inline std::size_t trim_for_program(std::size_t keep) {
    return instance.trim(keep) + (sampled.is_on() ? sampled.beside().trim(0) : 0);
}

// Serves a request that came by a libc name.
inline void *allocate_for_program(std::size_t size, std::size_t alignment, const void *caller) {
    if (sampled.is_counting()) [[unlikely]]
        return sampled.allocate(size, alignment, caller);
    return alignment <= kFineStep ? instance.allocate(size) : instance.allocate_aligned(size, alignment);
}

}  // namespace gr
