/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a process that may map few addresses (ulimit -v): the library starts, most of them are of use, for objects of each
 *    size, and what is dropped makes room for others.
 * Invariant: each part is a process of its own, which has the limit from its start, or sets it before its first object.
 * Must not know: how the heap lies in the addresses.
 */
#include <gc.h>
#include <sys/resource.h>

#include "check.h"

enum { kMiB = 1 << 20, kSmall = 48, kLarge = kMiB };

struct object {
    struct object *next;
};

static struct object *volatile kept;

static unsigned long limit_in_mib;

/* MiB of objects that fit, all of them kept: by their first words, or if they have no pointers, by a cell for each. */
NOINLINE static unsigned long fill(size_t bytes, void *(*allocate)(size_t)) {
    struct object **list = GC_malloc_uncollectable(sizeof *list);
    size_t total = 0;
    for (void *object; (object = allocate(bytes)) != NULL; total += bytes) {
        struct object *link = object;
        if (allocate == GC_malloc_atomic) {
            void **cell = GC_malloc(2 * sizeof *cell);
            if (cell == NULL) break;
            cell[1] = object;
            link = (struct object *)cell;
        }
        link->next = *list;
        *list = link;
    }
    GC_free(list);
    return total / kMiB;
}

static void expect_most(unsigned long got, const char *what) {
    CHECK(got >= limit_in_mib * 2 / 5, "%lu MiB of %s fit under a limit of %lu", got, what, limit_in_mib);
}

static void keep_small(void) { expect_most(fill(kSmall, GC_malloc), "objects of 48 bytes"); }
static void keep_large(void) { expect_most(fill(kLarge, GC_malloc), "objects of a MiB"); }
static void keep_atomic(void) { expect_most(fill(kLarge, GC_malloc_atomic), "pointer-free objects of a MiB"); }

/* The addresses of the first go to the second. */
static void keep_one_after_the_other(void) {
    if (skip_on_bdwgc("a word that is left somewhere keeps the first list")) return;
    keep_small();
    scrub();
    keep_large();
    scrub();
    keep_atomic();
    scrub();
    keep_small();
}

/* A third lives; eight times the limit is made beside it. */
static void make_garbage(void) {
    for (unsigned long mib = 0; mib < limit_in_mib / 3; ++mib) {
        struct object *object = GC_malloc(kLarge);
        CHECK(object != NULL, "only %lu MiB of the third that lives fit", mib);
        object->next = kept;
        kept = object;
    }
    for (size_t size = kSmall; size <= kLarge; size = size == kSmall ? kLarge : 2 * kLarge) {
        for (size_t made = 0; made < 8 * limit_in_mib * kMiB; made += size) {
            void *object = GC_malloc(size);
            CHECK(object != NULL, "no object of %zu bytes after %zu MiB of garbage", size, made / kMiB);
            memset(object, 1, 16);
        }
    }
}

static void collect_incrementally(void) {
    GC_enable_incremental();
    make_garbage();
}

static const struct {
    const char *name;
    void (*test)(void);
} parts[] = {{"small", keep_small},     {"large", keep_large},
             {"atomic", keep_atomic},   {"one_after_the_other", keep_one_after_the_other},
             {"garbage", make_garbage}, {"incremental", collect_incrementally}};

static void limit(unsigned long mib) {
    struct rlimit addresses = {mib * kMiB, mib * kMiB};
    CHECK(setrlimit(RLIMIT_AS, &addresses) == 0, "setrlimit");
}

static int run_part(const char *name, unsigned long mib) {
    limit_in_mib = mib;
    GC_set_warn_proc(GC_ignore_warn_proc);
    GC_INIT();
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; ++i)
        if (strcmp(parts[i].name, name) == 0) parts[i].test();
    return 0;
}

static void run_under(unsigned long mib, const char *name, int from_the_start) {
    pid_t child = fork();
    CHECK(child >= 0, "no process");
    if (child == 0) {
        limit(mib);
        if (!from_the_start) exit(run_part(name, mib));
        char number[20];
        snprintf(number, sizeof number, "%lu", mib);
        execl("/proc/self/exe", "limited_addresses", name, number, (char *)NULL);
        _exit(2);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "%s under %lu MiB: status %#x", name, mib,
          (unsigned)status);
}

int main(int argc, char **argv) {
    if (argc == 3) return run_part(argv[1], strtoul(argv[2], NULL, 10));
    static const unsigned long limits[] = {256, 512};
    for (unsigned l = 0; l < sizeof limits / sizeof limits[0]; ++l)
        for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; ++i) run_under(limits[l], parts[i].name, (i + l) % 2);
    return 0;
}
