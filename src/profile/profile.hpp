// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the profile of a running program: samples come and go, and their sums by stack are written when somebody asks.
// Invariant: one lock, which nobody waits for that interrupted its holder or is a signal's handler: what such a one
//    wants is left for the holder, who looks when he has let go. Nothing here allocates.
// Must not know: where blocks lie, which of them are sampled.
#pragma once

#include "platform/unwind/stack_walk.hpp"
#include "profile/samples.hpp"
#include "profile/sites.hpp"

namespace gr {

class Profile {
  public:
    constexpr Profile() = default;

    static constexpr std::size_t kFolderBytes = 1024;

    // Once, with a folder that fits. false: no memory, or no way to take stacks, and nothing is to be used.
    [[gnu::cold]] bool begin(std::uint64_t mean, std::uint64_t seed, const char *folder);
    std::uint64_t mean() const { return mean_; }
    // Bytes to the next sample of a thread.
    std::int64_t gap() { return gap_of(roll(), mean_); }

    // A block is sampled, which whoever is calling allocates by a call that goes on at `caller`.
    void note(const void *p, std::uint64_t size, const void *caller);
    // One that could not be.
    void miss() { missed_.fetch_add(1, std::memory_order_relaxed); }
    // It is freed. false: it was not sampled, or is not live.
    bool forget(const void *p);
    // In two steps: out of the table, and out of the sums; or back again, perhaps with another address. The second says
    // false where it cannot be done now.
    bool take_out(const void *p, Sample *sample) { return samples_.take(p, sample); }
    bool count_out(const Sample &sample);
    void put_back(const void *p, const Sample &sample) {
        if (!samples_.insert(p, sample)) miss();
    }

    // Writes what there is, under that name, or one of its own in the folder for nullptr. The kernel's negative errno, or 0;
    // -EBUSY: the caller interrupted who counts or the heaps.
    long dump(const char *path);
    // The same as soon as may be: in a signal's handler, or when who holds the lock has let go. What goes wrong is said.
    void dump_soon();

    // A library goes, and another may come to lie where it lay.
    void forget_code() { walk_.forget(); }

    // Around fork; a handler's fork that interrupted the holder locks nothing.
    void lock();
    void unlock();

    const Sites &sites() const { return sites_; }
    const Stacks &stacks() const { return stacks_; }
    const std::atomic<std::uint64_t> *missed_cell() const { return &missed_; }

  private:
    static constexpr platform::Rank kRank = platform::Rank::profile;

    bool may_wait() const;
    std::uint64_t roll();
    void let_go();
    [[gnu::cold]] void write_wanted();
    [[gnu::cold]] long write(const char *path);
    std::size_t copy_sites(Site *to) const;

    std::uint64_t mean_ = 0;
    std::uint64_t began_ = 0;
    std::uint64_t began_monotonic_ = 0;
    char folder_[kFolderBytes] = {};  // empty: where the program runs
    platform::StackWalk walk_;
    Stacks stacks_;
    Sites sites_;
    Samples samples_;
    platform::Mutex mutex_;  // of sites_, and before that of stacks_
    unsigned forks_within_ = 0;
    std::atomic<std::uint64_t> dice_{0};  // ordered by nothing, as the next two
    std::atomic<std::uint64_t> missed_{0};
    std::atomic<std::uint32_t> written_{0};  // files, under names of its own
    std::atomic<bool> is_wanted_{false};     // seq_cst, with the lock: whoever holds it, or who asks, sees the other
};

}  // namespace gr
