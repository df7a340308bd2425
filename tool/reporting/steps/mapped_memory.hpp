// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the memory that the program and its libraries mapped without malloc, by the call stack that did; and what kinds of
//    memory are called.
// Invariant: a look at the memory that is damaged counts as none. Stack 0 has what no recorded call explains.
// Must not know: what a stack is called.
#pragma once

#include <optional>
#include <vector>

#include "reading/trace/reader.hpp"

namespace gr::tool {

struct MappedSum {
    double resident = 0;   // bytes
    double addresses = 0;  // bytes
    double mappings = 0;
};

struct MappedUse {
    trace::StackNumber stack{};
    double calls = 0;  // that mapped, in the whole run
    double bytes = 0;  // that they mapped
    MappedSum at_peak;
    MappedSum at_end;
};

// When most was resident, of the moments at which it was looked at; none: it never was.
[[nodiscard]] std::optional<trace::MemoryLook> look_at_peak(const trace::Trace &trace);
[[nodiscard]] std::optional<trace::MemoryLook> look_at_end(const trace::Trace &trace);

// By number of the stack; those of which there is anything.
[[nodiscard]] std::vector<MappedUse> mapped_profile(const trace::Trace &trace);

// In a table: "stacks of threads".
[[nodiscard]] const char *kind_name(trace::MemoryKind kind);

}  // namespace gr::tool
