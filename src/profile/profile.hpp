// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the profile of a running program: adds and removes samples, and writes their sums by stack on request.
// Invariant: one lock. A signal handler that interrupted the lock's holder does not wait for the lock: it leaves its
//    request, and the holder looks for requests after it unlocks. A sample counts only in the sums of its own
//    generation. Nothing here allocates.
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

    // folder: where profiles are written (nullptr: the working directory); its path fits and stays. every: a profile is
    // written each time so many bytes were allocated (0: never). false: no memory now, or no way to take stacks; then
    // no other function may be called.
    [[gnu::cold]] bool begin(std::uint64_t seed, const char *folder, std::uint64_t every);
    // start: from now on one block in `mean` bytes is sampled (0: the mean as before). stop: none is. reset forgets all
    // samples, and so does start if the mean changes. start and reset return the generation in which samples are taken
    // (0: none are taken). The caller must be allowed to wait.
    [[gnu::cold]] std::uint32_t start(std::uint64_t mean);
    [[gnu::cold]] void stop();
    [[gnu::cold]] std::uint32_t reset();
    // Whether the calling thread may wait for the lock.
    bool may_wait() const;

    std::uint64_t mean() const { return mean_.load(std::memory_order_relaxed); }
    // When the sums were last 0, in nanoseconds of the clock that also gives the time of the peak.
    std::uint64_t began() const { return began_roughly_; }
    // A new number of bytes to a thread's next sample.
    std::int64_t gap() { return gap_of(roll(), mean()); }

    // Samples a block that the calling thread allocated. caller: the return address of the allocating call. Does
    // nothing if the generation in which the thread chose the block is over.
    void note(const void *p, std::uint64_t size, const void *caller, std::uint32_t generation);
    // Counts a block that could not be sampled.
    void miss() { missed_.fetch_add(1, std::memory_order_relaxed); }
    // The block at p is freed. false: it was not sampled, or is not live.
    bool forget(const void *p);
    // forget in two steps: take_out removes the sample from the table, then count_out removes it from the sums, or
    // put_back returns it to the table, perhaps with another address. count_out, false: not possible now.
    bool take_out(const void *p, Sample *sample) { return samples_.take(p, sample); }
    bool count_out(const Sample &sample);
    void put_back(const void *p, const Sample &sample) {
        if (!samples_.insert(p, sample)) miss();
    }

    // Writes the sums to the file `path`; for nullptr to a new file in the folder. 0, or the kernel's negative errno;
    // -EBUSY: the caller is a handler that interrupted the lock's holder or the heaps.
    long dump(const char *path);
    // Writes a new file in the folder, now or when the lock's holder unlocks. A signal handler may call it. A failure
    // is printed.
    void dump_soon();

    // Writes the last profile to a new file in the folder. Prints the file's name or the failure.
    void dump_at_end();

    // Called when a library is unloaded, because another library may be loaded at its addresses.
    void forget_code() { walk_.forget(); }

    // Around fork. If a handler that interrupted the lock's holder forks, they lock nothing.
    void lock();
    void unlock();

    const Sites &sites() const { return sites_; }
    const Stacks &stacks() const { return stacks_; }
    const std::atomic<std::uint64_t> *missed_cell() const { return &missed_; }

  private:
    static constexpr platform::Rank kRank = platform::Rank::profile;

    // The value of sampling_ while no samples are taken.
    static constexpr std::uint32_t kStopped = 0;

    void begin_now();
    void forget_all();
    void add(const void *p, std::uint64_t size, StackNumber stack);
    void end(const Sample &sample);
    std::uint64_t roll();
    void let_go();
    [[gnu::cold]] void write_wanted();
    // What is printed on standard error.
    enum class Says : std::uint8_t { nothing, failures, everything };
    [[gnu::cold]] long write(const char *path, Says says);
    std::size_t copy_sites(Site *to) const;

    // Changed under the lock. Relaxed: a sample drawn by an older mean is of an older generation, and note drops it.
    std::atomic<std::uint64_t> mean_{0};
    std::uint64_t began_ = 0;
    std::uint64_t began_monotonic_ = 0;
    std::uint64_t began_roughly_ = 0;
    std::uint64_t every_ = 0;
    std::uint64_t due_ = 0;  // bytes allocated at which the next profile is written without a request
    std::uint32_t generation_ = 1;
    std::uint32_t sampling_ = kStopped;  // generation_ while samples are taken
    const char *folder_ = nullptr;
    platform::StackWalk walk_;
    Stacks stacks_;
    Sites sites_;
    Samples samples_;
    platform::Mutex mutex_;  // guards sites_ and the numbers above; locked before the lock of stacks_
    unsigned forks_within_ = 0;
    std::atomic<std::uint64_t> dice_{0};  // relaxed, as the next two
    std::atomic<std::uint64_t> missed_{0};
    std::atomic<std::uint32_t> written_{0};  // number of new files in the folder
    // seq_cst, as the mutex: the lock's holder sees the request, or the requesting thread gets the lock.
    std::atomic<bool> is_wanted_{false};
};

}  // namespace gr
