/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: finds and loads a library that lies beside the program.
 * Invariant: a library that is not there ends the program with 77.
 * Must not know: what is in it.
 */
#ifndef LIBGC_LIBRARY_H
#define LIBGC_LIBRARY_H

#include <dlfcn.h>
#include <limits.h>

#include "check.h"

UNUSED static void library_path(const char *name, char *path, size_t size) {
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0) not_available("/proc/self/exe");
    self[length] = 0;
    *strrchr(self, '/') = 0;
    snprintf(path, size, "%s/%s", self, name);
    if (access(path, R_OK) != 0) not_available("the library beside the program");
}

UNUSED static void *library_open(const char *name) {
    char path[PATH_MAX + 20];
    library_path(name, path, sizeof path);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL, "%s", dlerror());
    return library;
}

UNUSED static void *library_symbol(void *library, const char *name) {
    void *symbol = dlsym(library, name);
    CHECK(symbol != NULL, "library.so has no %s", name);
    return symbol;
}

#endif
