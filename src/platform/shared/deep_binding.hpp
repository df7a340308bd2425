// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libraries that are opened so that they see the symbols of their own dependencies, also libc's, before the
//    program's (RTLD_DEEPBIND); and a change of libc's symbols for such libraries.
// Invariant: a symbol of libc's leads to what the whole program sees under that name, or is left as it was.
// Must not know: which names, and whether it should be done.
#pragma once

namespace gr::platform {

// Take the flags of dlopen. If libc has no such flag, no flags ask for it, and nothing need be done.
bool binds_deeply(int flags);
int without_deep_binding(int flags);

// Whether dlmopen would open in the namespace that this library is in.
bool is_own_namespace(long space);

// Makes each of these names (ended by nullptr) that libc exports lead to the program's definition, for all bindings
// from now on. false: it cannot be done here, and nothing has changed.
bool lead_libc_to_program(const char *const *names);

}  // namespace gr::platform
