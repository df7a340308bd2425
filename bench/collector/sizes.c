/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: what live objects of one size need, each written from its beginning to its end.
 * Invariant: the objects are asked for kBytes in all, whatever their size.
 * Must not know: which collector it runs on.
 */
/* usage: sizes scanned|atomic SIZE     prints what is resident over what was asked for, and the heap over it */
#include <gc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const size_t kBytes = 200u << 20;

static double resident(void) {
    long all = 0, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file == NULL || fscanf(file, "%ld %ld", &all, &pages) != 2) _exit(1);
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv) {
    size_t size = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    if (size == 0 || size > kBytes) {
        fprintf(stderr, "usage: sizes scanned|atomic SIZE\n");
        return 2;
    }
    GC_INIT();
    int is_atomic = strcmp(argv[1], "atomic") == 0;
    size_t count = kBytes / size;
    void **all = GC_MALLOC_UNCOLLECTABLE(count * sizeof *all);
    double before = resident();
    for (size_t i = 0; i < count; ++i) {
        all[i] = is_atomic ? GC_MALLOC_ATOMIC(size) : GC_MALLOC(size);
        if (all[i] == NULL) return 1;
        memset(all[i], 0, size);
    }
    double asked = (double)size * (double)count;
    printf("%.3f %.3f\n", (resident() - before) / asked, (double)GC_get_heap_size() / asked);
    return 0;
}
