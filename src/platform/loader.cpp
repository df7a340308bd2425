// SPDX-License-Identifier: Apache-2.0 OR MIT
// Uses dlsym. Each library stays open as often as it was.
#include "platform/loader.hpp"

#include <dlfcn.h>
#include <link.h>

// Absent from most programs that are linked statically. NOLINTNEXTLINE(readability-redundant-declaration): weak
extern "C" [[gnu::weak]] void *dlsym(void *scope, const char *name) noexcept;
// NOLINTNEXTLINE(readability-redundant-declaration): weak
[[gnu::weak]] extern r_debug _r_debug;
// NOLINTNEXTLINE(readability-redundant-declaration): weak, and this library's own
[[gnu::weak, gnu::visibility("hidden")]] extern ElfW(Dyn) _DYNAMIC[];

namespace gr::platform {
namespace {

// Looked up by name: a reference would make the linker warn in every static program, and this library may export a
// dlopen of its own.
struct Opening {
    decltype(&dlopen) open = reinterpret_cast<decltype(&dlopen)>(libc_symbol("dlopen"));
    decltype(&dlclose) close = reinterpret_cast<decltype(&dlclose)>(libc_symbol("dlclose"));
    bool is_known() const { return open != nullptr && close != nullptr; }
};

void *symbol_in(const char *name, const char *library, int flags) {
    const Opening opening;
    void *const handle = opening.is_known() ? opening.open(library, flags) : nullptr;
    if (handle == nullptr) return nullptr;
    void *const symbol = dlsym(handle, name);
    opening.close(handle);
    return symbol;
}

}  // namespace

void *next_symbol(const char *name) { return dlsym == nullptr ? nullptr : dlsym(RTLD_NEXT, name); }

// If nothing comes after this library, the C library comes before it, and before a name that this library exports.
void *libc_symbol(const char *name) {
    if (void *const next = next_symbol(name)) return next;
    return dlsym == nullptr ? nullptr : dlsym(RTLD_DEFAULT, name);
}

void *program_symbol(const char *name) { return symbol_in(name, nullptr, RTLD_LAZY); }

void *visible_symbol(const char *name) { return dlsym == nullptr ? nullptr : dlsym(RTLD_DEFAULT, name); }

void *loaded_symbol(const char *name, const char *library) {
    if (dlsym == nullptr) return nullptr;
    if (void *const symbol = visible_symbol(name)) return symbol;
    return symbol_in(name, library, RTLD_LAZY | RTLD_NOLOAD);
}

// Without a loader's list there is one namespace.
bool is_in_first_namespace() {
    if (&_r_debug == nullptr || _r_debug.r_map == nullptr) return true;
    for (const link_map *library = _r_debug.r_map; library != nullptr; library = library->l_next) {
        if (library->l_ld == &_DYNAMIC[0]) return true;
    }
    return false;
}

}  // namespace gr::platform
