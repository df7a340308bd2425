// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a report of leaks, in a file for the command (granary/leaks.h).
// Invariant: it appears whole or not at all. Takes no memory of malloc's.
// Must not know: how leaks are found.
#pragma once

#include "gcmalloc/leak_search.hpp"

namespace gr {

// The next one of this process. failure: why nothing was found out, or nullptr.
void write_report(const char *folder, LeakSearch &leaks, const Stacks &stacks, const char *failure);

}  // namespace gr
