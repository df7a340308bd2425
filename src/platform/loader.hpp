// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: symbols that only the loader can find: behind this library's own, or in what was loaded since.
// Invariant: nothing is loaded; in a program that is linked statically nothing is found.
// Must not know: what the symbols are.
#pragma once

namespace gr::platform {

// What the program itself gets under this name; nullptr: nothing.
void *program_symbol(const char *name);
// The definition that comes after this library's in the order of lookup; nullptr: none.
void *next_symbol(const char *name);
// One that every library sees by now, or that of a library of this name which only its users see; nullptr: none.
void *loaded_symbol(const char *name, const char *library);

}  // namespace gr::platform
