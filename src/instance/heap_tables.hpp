// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tells tools outside the process where the tables of its heap lie (granary/wire/heap_tables.h).
// Invariant: written once, at the start, except the values of options; nothing in the process reads it.
// Must not know: what a tool makes of the tables.
#pragma once

#include "granary/wire/heap_tables.h"
#include "instance/instance.hpp"

namespace gr {

// Publishes the tables of malloc's instance.
void publish_tables(const Instance &allocator);
// Updates the published numbers that gr_option_set changes.
void publish_options(const Options &options);
// Where the published structure lies.
const gr_heap_tables *published_tables();
// Describes another instance in `tables`. The reader must be told where `tables` lies.
void describe_heap(const Instance &allocator, gr_heap_tables *tables);

}  // namespace gr
