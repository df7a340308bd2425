// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tells tools outside the process where the tables of its heap lie (granary/heap_tables.h).
// Invariant: written once, at the start; nothing in the process reads it.
// Must not know: what a tool makes of the tables.
#pragma once

#include "malloc/instance.hpp"

namespace gr {

void publish_tables(const Instance &allocator);

}  // namespace gr
