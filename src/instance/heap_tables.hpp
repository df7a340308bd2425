// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tells tools outside the process where the tables of its heap lie (granary/heap_tables.h).
// Invariant: written once, at the start, but for the values of options; nothing in the process reads it.
// Must not know: what a tool makes of the tables.
#pragma once

#include "granary/heap_tables.h"
#include "instance/instance.hpp"

namespace gr {

// Malloc's.
void publish_tables(const Instance &allocator);
// The numbers in it that gr_option_set changes.
void publish_options(const Options &options);
// Where that is.
const gr_heap_tables *published_tables();
// Of another instance; who is to find it must be told where.
void describe_heap(const Instance &allocator, gr_heap_tables *tables);

}  // namespace gr
