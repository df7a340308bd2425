// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reports of leaks for people and for programs, without what is suppressed.
// Invariant: text and JSON tell the same; the largest of each process's leaks comes first, direct ones before others.
// Must not know: how leaks are found; where the reports come from.
#pragma once

#include <string>
#include <vector>

#include "commands/leaks/leak_report.hpp"
#include "commands/leaks/suppressions.hpp"
#include "reading/process/code_places.hpp"

namespace gr::tool {

struct FoundLeak {
    LeakGroup group;
    std::vector<CodePlace> stack;
};

struct ProcessFindings {
    LeakReport report;
    std::vector<FoundLeak> leaks;
    std::uint64_t suppressed_blocks = 0;
    std::uint64_t suppressed_bytes = 0;
};

[[nodiscard]] ProcessFindings find_places(LeakReport report, const Suppressions &suppressions);

[[nodiscard]] std::string leaks_text(const std::vector<ProcessFindings> &processes, bool has_whole_names);
[[nodiscard]] std::string leaks_json(const std::vector<ProcessFindings> &processes);

}  // namespace gr::tool
