// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what hosts know of the plugin: its functions, by name, and what it answers.
// Invariant: none of it allocates by itself.
// Must not know: how the plugin was opened.
#pragma once

#include <dlfcn.h>

#include <cstddef>

inline constexpr int kHostsAnswer = 1;
inline constexpr int kPluginsAnswer = 2;
inline constexpr int kWays = 12;          // of allocating
inline constexpr int kFirstWayOnce = 10;  // from here on it is the same block each time

struct Plugin {
    explicit Plugin(void *opened) : handle(opened) {}

    template <class Function>
    Function *find(const char *name) const {
        return reinterpret_cast<Function *>(dlsym(handle, name));
    }

    void *handle;
    void *(*allocate)(int, std::size_t) = find<void *(int, std::size_t)>("plugin_allocate");
    void *(*resize)(void *, std::size_t) = find<void *(void *, std::size_t)>("plugin_resize");
    std::size_t (*usable_size)(void *) = find<std::size_t(void *)>("plugin_usable_size");
    void (*release)(void *) = find<void(void *)>("plugin_release");
    void (*remove)(void *) = find<void(void *)>("plugin_delete");
    int (*answer)() = find<int()>("plugin_answer");
    void *(*open)(const char *, int) = find<void *(const char *, int)>("plugin_open");
};
