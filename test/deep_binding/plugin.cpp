// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a plugin as PHP's extensions are: it allocates for its host, frees for its host, and needs a library.
// Invariant: each function is one call of the name it stands for, by whatever the loader binds that to.
// Must not know: which malloc the host uses.
#include "plugin.hpp"

#include <dlfcn.h>
#include <malloc.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

extern "C" void *needed_made_at_start();
extern "C" void *needed_allocate(std::size_t size);

// The host has one as well. In a function of this name each binds to what it may see first.
extern "C" int deep_answer() { return kPluginsAnswer; }

namespace {

void *made_at_start = ::operator new(100);

void *by_posix_memalign(std::size_t size) {
    void *block = nullptr;
    return posix_memalign(&block, 64, size) == 0 ? block : nullptr;
}

char *by_strdup(std::size_t size) {
    const std::string text(size, 'x');
    return strdup(text.c_str());
}

}  // namespace

extern "C" void *plugin_allocate(int way, std::size_t size) {
    switch (way) {
        case 0:
            return std::malloc(size);
        case 1:
            return std::calloc(1, size);
        case 2:
            return std::realloc(nullptr, size);
        case 3:
            return memalign(64, size);
        case 4:
            return std::aligned_alloc(64, size);
        case 5:
            return by_posix_memalign(size);
        case 6:
            return by_strdup(size);
        case 7:
            return ::operator new(size);
        case 8:
            return valloc(size);
        case 9:
            return needed_allocate(size);
        case 10:
            return needed_made_at_start();
        case 11:
            return made_at_start;
        default:
            return nullptr;
    }
}

extern "C" void *plugin_resize(void *block, std::size_t size) { return std::realloc(block, size); }
extern "C" std::size_t plugin_usable_size(void *block) { return malloc_usable_size(block); }
extern "C" void plugin_release(void *block) { std::free(block); }
extern "C" void plugin_delete(void *block) { ::operator delete(block); }
extern "C" int plugin_answer() {
    int (*volatile bound)() = deep_answer;  // the loader's choice, not the compiler's
    return bound();
}
extern "C" void *plugin_open(const char *path, int flags) {
    void *volatile handle = dlopen(path, flags);  // not the last thing done: the caller must be this library
    return handle;
}
