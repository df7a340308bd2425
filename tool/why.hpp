// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      why the resident set of a process is as large as it is: its parts, and what could be done about them.
// Invariant: the parts together are the whole; a hint names the number it rests on.
// Must not know: how anything is drawn or printed.
#pragma once

#include <string>
#include <vector>

#include "heap_snapshot.hpp"

namespace gr::tool {

// One part of the resident set.
struct Share {
    std::string name;        // for programs: "live", "free", ...
    std::uint64_t resident;  // bytes
    std::uint64_t bytes;     // with what is not resident; 0: nothing else is known
    bool granary;            // else it is nothing that Granary could influence
    std::string text;        // for people, after the number
};

// What of the empty memory stays because the program takes as much again and again, and since when.
struct Breath {
    std::uint64_t bytes = 0;
    std::uint64_t seconds = 0;
};

struct Explanation {
    int process;
    std::string executable;
    std::string library;  // the file that holds Granary
    HeapSnapshot heap;
    std::uint64_t resident;  // the sum of all shares
    std::uint64_t huge;      // of it in huge pages
    Breath breath;
    std::vector<Share> shares;
    std::vector<std::string> hints;
};

// Throws Failure when there is no such process, it may not be looked at, or it does not run on Granary.
[[nodiscard]] Explanation explain(int process);

}  // namespace gr::tool
