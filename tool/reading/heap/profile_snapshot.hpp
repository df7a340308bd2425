// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the sums of a process's profile at one moment, by stack.
// Invariant: all are of one moment, unless the process changes them faster than they can be read; is_whole tells.
//    Stacks are the innermost call first.
// Must not know: what is shown of them; names of functions.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "reading/heap/heap_finder.hpp"
#include "reading/process/process_memory.hpp"

namespace gr::tool {

struct ProfileSum {
    double blocks = 0;
    std::uint64_t bytes = 0;

    ProfileSum &operator+=(const ProfileSum &other) {
        blocks += other.blocks;
        bytes += other.bytes;
        return *this;
    }
};

struct ProfileSums {
    ProfileSum allocated;  // since the profile began
    ProfileSum live;
    ProfileSum peak;  // live when most bytes were
};

struct ProfileSite {
    ProfileSums sums;
    const std::vector<std::uint64_t> *calls = nullptr;  // where they go on; empty: no stack is known
};

struct ProfileSnapshot {
    ProfileSums totals{};
    std::vector<ProfileSite> sites{};
    std::uint64_t mean = 0;       // bytes between two samples
    std::uint64_t missed = 0;     // samples that could not be taken
    std::uint64_t began = 0;      // nanoseconds of CLOCK_MONOTONIC
    std::uint64_t peak_time = 0;  // the same; 0: there was none yet
    bool is_whole = false;
};

// Of one process, again and again.
class ProfileReader {
  public:
    ProfileReader(const ProcessMemory &memory, const FoundProfile &found);

    // Throws Failure when the process has ended, or has overwritten what it says.
    [[nodiscard]] ProfileSnapshot read();

  private:
    [[nodiscard]] std::uint64_t number_at(std::uint64_t address) const;
    [[nodiscard]] ProfileSums sums_in(const char *record) const;
    ProfileSnapshot read_once();
    const std::vector<std::uint64_t> &calls_of(std::uint64_t stack);
    [[noreturn]] void fail() const;

    const ProcessMemory &memory_;
    gr_profile_tables tables_;
    std::string file_;
    std::map<std::uint64_t, std::vector<std::uint64_t>> stacks_;  // one never changes
    std::uint64_t calls_ = 0;                                     // of all these
};

}  // namespace gr::tool
