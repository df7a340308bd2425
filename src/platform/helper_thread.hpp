// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: starts a thread of the library's own in the program's process, and tells when a thread of the program ends.
// Invariant: a helper takes none of the program's signals and runs until its function returns or the process ends.
// Must not know: what the helper does.
#pragma once

namespace gr::platform {

struct Helper {
    void (*run)();
    const char *name;
};

// Returns 0 or libc's error. It allocates. The caller must hold no lock of this library's, and none of libc's that is
// taken to start a thread. `helper` must stay valid.
int start_helper(const Helper &helper);

// From now on call() is called when the calling thread ends but its process goes on. Only one thread may ask for this,
// any number of times; in fork's child its only thread may. false: libc has no key left, or no memory for its
// value.
bool on_end_of_this_thread(void (*call)());

}  // namespace gr::platform
