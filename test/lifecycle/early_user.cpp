// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library whose relocation calls the IFUNC resolver of early_library.cpp.
// Invariant: the pointer is data, so the loader resolves it at once, however the library is bound.
// Must not know: that the resolver allocates.
extern "C" {
int early_answer();
int (*early_answer_pointer)() = early_answer;
}
