// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a plugin that allocates for its host and frees for its host.
// Invariant: loaded with RTLD_DEEPBIND, its malloc and free are libc's, whatever is preloaded.
// Must not know: that the host uses another malloc.
#include <cstdlib>
#include <cstring>

extern "C" char *plugin_duplicate(const char *text) { return strdup(text); }

extern "C" void *plugin_allocate(std::size_t size) { return std::malloc(size); }

extern "C" void plugin_release(void *block) { std::free(block); }
