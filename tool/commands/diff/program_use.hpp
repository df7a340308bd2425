// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what one trace says of a program's memory, in a form that can be held against another's: nothing in it is an
//    address.
// Invariant: plain data. Call sites are estimates where stacks were sampled.
// Must not know: what it is held against.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/time_axis.hpp"

namespace gr::tool {

inline constexpr std::size_t kTimeParts = 10;  // of the run's time

struct Use {
    double bytes = 0;  // allocated
    double blocks = 0;
    double at_peak = 0;  // bytes; of functions only
    double at_end = 0;   // bytes
};

// Mapped without malloc, when most was resident of the moments at which that was looked at.
struct Mapped {
    double resident = 0;
    double addresses = 0;
};

// What was allocated right there, and not in what it calls.
struct CallNode {
    std::uint32_t parent = 0;  // of the first, which is all of the program, itself
    Frame frame;               // without a line: that is another in another build
    Use use;
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
    std::vector<std::string> notes;  // what is not as it should be: a damage, files without names

    std::map<std::uint64_t, Use> by_class;  // by the size of Granary's block
    std::map<std::string, Use> by_site;
    bool has_kinds = false;                                // of resident memory
    std::map<trace::MemoryKind, double> resident_by_kind;  // when most was; without the recording's own
    std::map<std::string, Mapped> mapped_by_site;
    std::map<std::string, Use> by_thread;                 // by name
    std::array<double, kTimeParts> most_in_part{};        // bytes in use
    std::array<Use, trace::kSizeBuckets> by_size_bucket;  // by the size asked for
    std::vector<CallNode> calls_tree;                     // parents first; without stacks the program alone
    // By point of the axis; behind the end of the run they are not known.
    std::vector<double> in_use;
    std::vector<double> blocks_in_use;
    std::vector<double> resident_over_time;  // without samples empty
    std::vector<Document::Mark> marks;
};

// The axis is that of both programs.
[[nodiscard]] ProgramUse use_of(const trace::Trace &trace, const TimeAxis &axis, const Naming &naming);

}  // namespace gr::tool
