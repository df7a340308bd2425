// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: loader.hpp by dlsym.
// Invariant: how often a library is open stays as it was.
// Must not know: what the symbols are.
#include "platform/loader.hpp"

#include <dlfcn.h>

// Absent from most programs that are linked statically. NOLINTNEXTLINE(readability-redundant-declaration): weak
extern "C" [[gnu::weak]] void *dlsym(void *scope, const char *name) noexcept;

namespace gr::platform {

void *next_symbol(const char *name) { return dlsym == nullptr ? nullptr : dlsym(RTLD_NEXT, name); }

// Where to open is asked for by name: a reference would make the linker warn of it in every static program.
void *loaded_symbol(const char *name, const char *library) {
    if (dlsym == nullptr) return nullptr;
    if (void *const symbol = dlsym(RTLD_DEFAULT, name)) return symbol;
    const auto open = reinterpret_cast<decltype(&dlopen)>(dlsym(RTLD_DEFAULT, "dlopen"));
    const auto close = reinterpret_cast<decltype(&dlclose)>(dlsym(RTLD_DEFAULT, "dlclose"));
    if (open == nullptr || close == nullptr) return nullptr;
    void *const handle = open(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) return nullptr;
    void *const symbol = dlsym(handle, name);
    close(handle);
    return symbol;
}

}  // namespace gr::platform
