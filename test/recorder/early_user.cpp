// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library that uses early_library's function, by an address that the loader must know at once.
// Invariant: relocated after that library, and before what was preloaded.
// Must not know: what that function does.
extern "C" {
int resolved_early();
int (*early_function)() = &resolved_early;
}
