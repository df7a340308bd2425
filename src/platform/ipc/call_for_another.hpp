// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a call of the loader's dlopen that the loader takes for a call by another module: where it searches for the
//    library depends on who calls.
// Invariant: if the CPU or the other module does not allow this, it is an ordinary call.
// Must not know: who calls, and why.
#pragma once

namespace gr::platform {

// `caller` is an address behind a call in the module that is to be taken for the caller.
void *call_for_another(void *(*open)(const char *, int), const char *file, int flags, const void *caller);

}  // namespace gr::platform
