// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a thread-local variable behind two functions, once for each model by which a compiler may reach it.
// Invariant: slot.cpp is compiled once for each name; flags choose the model.
// Must not know: what is kept in it.
#pragma once

#include "way.hpp"

namespace gr::bench::local_exec {
Identity get();
void set(Identity identity);
}  // namespace gr::bench::local_exec

namespace gr::bench::initial_exec {
Identity get();
void set(Identity identity);
}  // namespace gr::bench::initial_exec

namespace gr::bench::global_dynamic {
Identity get();
void set(Identity identity);
}  // namespace gr::bench::global_dynamic

namespace gr::bench::descriptor {
Identity get();
void set(Identity identity);
}  // namespace gr::bench::descriptor
