// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a thread of the library's own in somebody else's program, and the end of one of the program's.
// Invariant: a helper takes none of the program's signals and runs until its function returns or the process ends.
// Must not know: what the helper does.
#pragma once

namespace gr::platform {

struct Helper {
    void (*run)();
    const char *name;
};

// libc's error, or 0. It allocates; no lock of ours may be held, nor one of libc's that it takes for a thread's start.
// What it is given stays.
int start_helper(const Helper &helper);

// From now on call() is called when the calling thread ends but its process goes on. Asked for by one thread only, as often
// as it likes, and in fork's child by the only one there. false: libc has no key left for it.
bool on_end_of_this_thread(void (*call)());

}  // namespace gr::platform
