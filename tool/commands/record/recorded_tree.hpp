// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what was recorded, by process: which traces are worth a file, and a text that shows every process under the one
//    that made it.
// Invariant: of the children of a process that with most events comes first, its own and those of what it made.
// Must not know: how traces are written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gr::tool {

struct WrittenTrace {
    std::string path;
    std::string program;
    std::uint32_t process = 0;
    std::uint32_t parent = 0;  // the nearest of its ancestors that was recorded; 0: none
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0;
    bool is_whole = true;      // else it is cut off: not all of it could be written
    bool is_left_out = false;  // its file is removed: there was little to record
};

// Where there are more traces than this, those of fewer events than that are left out.
inline constexpr std::size_t kManyTraces = 16;
inline constexpr std::uint64_t kSmallTrace = 1000;

// Removes the files of small traces, where there are many traces. That of the main process is never small.
void leave_out_small(std::vector<WrittenTrace> &traces, std::uint32_t main_process);

// Lines, each with its end; empty where only one process was recorded.
[[nodiscard]] std::string tree_text(const std::vector<WrittenTrace> &traces);

}  // namespace gr::tool
