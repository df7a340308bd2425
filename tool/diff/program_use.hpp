// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what one trace says of a program's memory, in a form that can be held against another's: nothing in it is an address.
// Invariant: plain data. Call sites are estimates where stacks were sampled.
// Must not know: what it is held against.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/reader.hpp"

namespace gr::tool {

inline constexpr std::size_t kParts = 10;  // of the run's time

struct Use {
    double bytes = 0;  // allocated
    double blocks = 0;
    double at_peak = 0;  // bytes; of call sites only
    double at_end = 0;   // bytes
};

struct ProgramUse {
    std::string file;
    std::string allocator;
    double calls = 0;  // that got memory
    double failed = 0;
    double bytes = 0;
    double peak_bytes = 0;
    double end_bytes = 0;
    double end_blocks = 0;
    double resident = 0;  // the most that was seen
    double seconds = 0;
    double cpu_seconds = 0;
    bool is_sampled = false;
    bool has_stacks = false;
    std::string damage;  // empty: the trace is whole

    std::map<std::uint64_t, Use> by_class;  // by the size of Granary's block
    std::map<std::string, Use> by_site;
    std::map<std::string, Use> by_thread;       // by name
    std::array<double, kParts> most_in_part{};  // bytes in use
};

[[nodiscard]] ProgramUse use_of(const trace::Trace &trace);

}  // namespace gr::tool
