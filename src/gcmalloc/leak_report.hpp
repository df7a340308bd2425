// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a report of leaks, in a file for the command (granary/wire/leaks.h).
// Invariant: the file appears complete or not at all. Writing it takes no memory from malloc.
// Must not know: how leaks are found.
#pragma once

#include "gcmalloc/leak_search.hpp"
#include "gcmalloc/origins.hpp"

namespace gr {

// Writes the next report of this process. failure: why the search failed, or nullptr.
void write_report(const char *folder, LeakSearch &leaks, const Origins &origins, const char *failure);

}  // namespace gr
