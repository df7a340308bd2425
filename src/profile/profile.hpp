// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the profile of a running program: samples come and go, and their sums by stack are written when somebody asks.
// Invariant: one lock, which nobody waits for that interrupted its holder or is a signal's handler: what such a one
//    wants is left for the holder, who looks when he has let go. A sample counts in the sums of its own generation only.
//    Nothing here allocates.
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

    // With a folder that fits and stays (nullptr: where the program runs), and after how many bytes it is written by itself
    // (0: never). false: no memory as of now, or no way to take stacks, and nothing is to be used.
    [[gnu::cold]] bool begin(std::uint64_t seed, const char *folder, std::uint64_t every);
    // A block in so many bytes is sampled from now on, or in as many as before for 0; or none. reset() forgets what was
    // sampled, and start() does where the mean is another. Each returns when that holds, and where samples are taken it
    // says in which generation. The caller may wait.
    [[gnu::cold]] std::uint32_t start(std::uint64_t mean);
    [[gnu::cold]] void stop();
    [[gnu::cold]] std::uint32_t reset();
    // Whether the calling thread may wait for the lock.
    bool may_wait() const;

    std::uint64_t mean() const { return mean_.load(std::memory_order_relaxed); }
    // When the sums were none, in nanoseconds of the clock that the time of the peak is read from.
    std::uint64_t began() const { return began_roughly_; }
    // Bytes to the next sample of a thread.
    std::int64_t gap() { return gap_of(roll(), mean()); }

    // A block is sampled, which whoever is calling allocates by a call that goes on at `caller`; unless the generation in
    // which that was decided is over.
    void note(const void *p, std::uint64_t size, const void *caller, std::uint32_t generation);
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

    // The last one, under a name of its own; that name, or what goes wrong, is said.
    void dump_at_end();

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

    // The number of samples that are not taken.
    static constexpr std::uint32_t kStopped = 0;

    void begin_now();
    void forget_all();
    void add(const void *p, std::uint64_t size, StackNumber stack);
    void end(const Sample &sample);
    std::uint64_t roll();
    void let_go();
    [[gnu::cold]] void write_wanted();
    // What is said on standard error.
    enum class Says : std::uint8_t { nothing, failures, everything };
    [[gnu::cold]] long write(const char *path, Says says);
    std::size_t copy_sites(Site *to) const;

    std::atomic<std::uint64_t> mean_{0};  // changed under the lock; whoever draws by another one notes nothing
    std::uint64_t began_ = 0;
    std::uint64_t began_monotonic_ = 0;
    std::uint64_t began_roughly_ = 0;
    std::uint64_t every_ = 0;
    std::uint64_t due_ = 0;  // of the bytes allocated: then it is written by itself
    std::uint32_t generation_ = 1;
    std::uint32_t sampling_ = kStopped;  // the generation, while samples are taken
    const char *folder_ = nullptr;
    platform::StackWalk walk_;
    Stacks stacks_;
    Sites sites_;
    Samples samples_;
    platform::Mutex mutex_;  // of sites_ and of what is above, and before that of stacks_
    unsigned forks_within_ = 0;
    std::atomic<std::uint64_t> dice_{0};  // ordered by nothing, as the next two
    std::atomic<std::uint64_t> missed_{0};
    std::atomic<std::uint32_t> written_{0};  // files, under names of its own
    std::atomic<bool> is_wanted_{false};     // seq_cst, with the lock: whoever holds it, or who asks, sees the other
};

}  // namespace gr
