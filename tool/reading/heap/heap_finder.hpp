// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where in a running process Granary's heap, its collector and its profile keep their tables
//    (granary/wire/heap_tables.h, granary/wire/collector_tables.h, granary/wire/profile_tables.h).
// Invariant: what is returned has this command's version, and sizes that can be worked with whatever the process wrote.
// Must not know: what the tables say.
#pragma once

#include <granary/wire/collector_tables.h>
#include <granary/wire/heap_tables.h>
#include <granary/wire/profile_tables.h>

#include <optional>
#include <string>
#include <vector>

#include "reading/process/process_memory.hpp"

namespace gr::tool {

// With the file of the library, or of the program that it is linked into.
struct FoundHeap {
    gr_heap_tables tables;
    std::string file;
};
struct FoundCollector {
    gr_collector_tables tables;
    std::string file;
};
struct FoundProfile {
    gr_profile_tables tables;
    std::string file;
};

// A heap that is malloc's; a collector, whose kinds' heaps are its own, or malloc's; malloc's profile, if one is taken.
struct FoundTables {
    std::optional<FoundHeap> heap;
    std::optional<FoundCollector> collector;
    std::optional<FoundProfile> profile;
};

// Neither heap nor collector: the process does not run on Granary. Throws Failure when tables are of another version.
[[nodiscard]] FoundTables find_tables(const ProcessMemory &memory, const std::vector<Mapping> &mappings);

// Of a kind, where the collector says that they are; `file` is its. Throws as above.
[[nodiscard]] gr_heap_tables read_heap_tables(const ProcessMemory &memory, std::uint64_t at, const std::string &file);

}  // namespace gr::tool
