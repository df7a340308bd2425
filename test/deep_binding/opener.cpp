// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library that opens plugins by bare name, in the folder that its own RUNPATH names.
// Invariant: the call of dlopen comes from this library.
// Must not know: where that folder is.
#include <dlfcn.h>

extern "C" void *opener_open(const char *name, int flags) {
    void *volatile handle = dlopen(name, flags);  // not the last thing done, or a jump would make it the host's call
    return handle;
}

extern "C" void *opener_open_in(long space, const char *name, int flags) {
    void *volatile handle = dlmopen(space, name, flags);
    return handle;
}
