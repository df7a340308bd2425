// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the file of GRANARY_STATS_FILE, which is written again and again.
// Invariant: under its name lies a whole text or nothing, also when the process ends by exit: then what it has written
//    is removed. No descriptor stays open, for programs close those that they do not know. Takes no memory of malloc's.
// Must not know: which thread writes; how statistics are counted.
#pragma once

#include "instance/statistics_text.hpp"
#include "platform/mutex.hpp"

namespace gr {

class StatisticsFile {
  public:
    constexpr StatisticsFile() = default;

    // Once. nullptr: there is none. The path and the program's environment may part from now on.
    [[gnu::cold]] void begin(const char *path, std::size_t seconds);
    bool is_wanted() const { return path_[0] != '\0'; }

    // By the thread that writes: the first time is one interval from now.
    void begin_interval();
    std::uint64_t due_at() const { return due_at_; }
    [[gnu::cold]] void write_if_due();

    // In fork's child: the thread that writes is not there.
    void forget_other_threads() { mutex_.forget_holder(); }
    // The process ends: nothing is written any more, and what it wrote is removed.
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
    std::uint64_t interval_ = 0;         // in nanoseconds, as the next
    std::uint64_t due_at_ = UINT64_MAX;  // of the thread that writes, as the next
    bool has_failed_ = false;            // and that was said
    platform::Mutex mutex_;              // of the next two, and of the file while it appears and disappears
    bool has_ended_ = false;
    unsigned writer_ = 0;  // the process that wrote it last; a child of fork inherits its parent's
};

}  // namespace gr
