// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds a function that the kernel maps into each process (vDSO).
// Invariant: no other library can put a function of its own in its place; nothing is allocated or locked.
// Must not know: what the function does.
#pragma once

namespace gr::platform {

// nullptr: the kernel maps no function of this name.
void *vdso_function(const char *name);

}  // namespace gr::platform
