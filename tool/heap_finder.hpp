// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      where in a running process Granary's heap keeps its tables (granary/heap_tables.h).
// Invariant: what is returned has this command's version, and sizes that can be worked with whatever the process wrote.
// Must not know: what the tables say.
#pragma once

#include <granary/heap_tables.h>

#include <optional>
#include <string>
#include <vector>

#include "process_memory.hpp"

namespace gr::tool {

struct FoundHeap {
    gr_heap_tables tables;
    std::string file;  // of the library, or of the program that it is linked into
};

// Nothing: the process does not run on Granary. Throws Failure when the tables are of another version.
[[nodiscard]] std::optional<FoundHeap> find_heap(const ProcessMemory &memory, const std::vector<Mapping> &mappings);

}  // namespace gr::tool
