/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a program that loads each library that it is given, calls its work(), and unloads it; not the one before a "-",
 *    which ends the program.
 * Invariant: one line for each library: where its work() lies.
 * Must not know: what the libraries do.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    for (int i = 1; i < argc; ++i) {
        void *library = dlopen(argv[i], RTLD_NOW);
        if (library == NULL) {
            puts(dlerror());
            return 1;
        }
        void (*work)(void) = (void (*)(void))dlsym(library, "work");
        printf("%p\n", (void *)work);
        work();
        if (i + 1 < argc && argv[i + 1][0] == '-') return 0;
        dlclose(library);
    }
    return 0;
}
