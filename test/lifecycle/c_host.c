/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a program in C that loads a library in C++, for its users only, and with it the C++ runtime.
 * Invariant: exits with what the library's test returns.
 * Must not know: C++.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    void *library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*test)(void) = NULL;
    if (library != NULL) *(void **)&test = dlsym(library, "cxx_plugin_test");
    if (test == NULL) {
        fprintf(stderr, "usage: c_host PLUGIN: %s\n", library == NULL ? "it cannot be loaded" : "it has no test");
        return 2;
    }
    return test();
}
