// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds symbols that only the loader knows: definitions that come after this library's, or that were loaded
//    later.
// Invariant: nothing is loaded; in a program that is linked statically nothing is found.
// Must not know: what the symbols are.
#pragma once

namespace gr::platform {

// The definition that the program itself binds this name to; nullptr: none.
void *program_symbol(const char *name);
// The definition that comes after this library's in the order of lookup; nullptr: none.
void *next_symbol(const char *name);
// The definition of a function that the C library has, or of a library that stands in for it. The C library comes before
// this library in a program that refers to the C library but not to this one, as if only a library of the program does.
void *libc_symbol(const char *name);
// The definition that every library sees by now; nullptr: none.
void *visible_symbol(const char *name);
// The definition that every library sees by now. If there is none, the one in the loaded library `library`, also if
// only its users see it. nullptr: none.
void *loaded_symbol(const char *name, const char *library);

// Whether this library lies in the namespace of the program. A library that dlmopen opens lies in another one, and so
// does an auditing library.
bool is_in_first_namespace();

}  // namespace gr::platform
