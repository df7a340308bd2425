// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the file of GRANARY_STATS_FILE, which is written again and again.
// Invariant: the file holds a whole text or does not exist. A process that ends by exit removes the file that it wrote.
//    No descriptor stays open, because programs close descriptors that they do not know. No memory of malloc is used.
// Must not know: which thread writes; how statistics are counted.
#pragma once

#include "instance/statistics_text.hpp"
#include "platform/mutex.hpp"

namespace gr {

class StatisticsFile {
  public:
    constexpr StatisticsFile() = default;

    // Called once. path = nullptr: there is no file. The path is copied, so the program may change its environment
    // afterwards.
    [[gnu::cold]] void begin(const char *path, std::size_t seconds);
    bool is_wanted() const { return path_[0] != '\0'; }

    // Called by the thread that writes: the first write is due one interval from now.
    void begin_interval();
    std::uint64_t due_at() const { return due_at_; }
    [[gnu::cold]] void write_if_due();

    // In fork's child: the thread that writes does not exist there.
    void forget_other_threads() { mutex_.forget_holder(); }
    // Called when the process ends: nothing is written any more, and the file that this process wrote is removed.
    [[gnu::cold]] void end();

  private:
    static constexpr std::size_t kPathBytes = 1024;
    static constexpr platform::Rank kRank = platform::Rank::statistics_file;
    struct Names;

    long write(const Names &names);
    long replace(const Names &names);
    void say_not_written(const char *path, long error);

    char path_[kPathBytes] = {};  // empty: there is none
    StatisticsFormat format_ = StatisticsFormat::text;
    std::uint64_t interval_ = 0;         // in nanoseconds, like due_at_
    std::uint64_t due_at_ = UINT64_MAX;  // only for the thread that writes, like has_failed_
    bool has_failed_ = false;            // a write failed, and the user was told
    platform::Mutex mutex_;              // for the next two, and while the file is renamed or removed
    bool has_ended_ = false;
    unsigned writer_ = 0;  // the process that wrote the file last; fork's child inherits the parent's number
};

}  // namespace gr
