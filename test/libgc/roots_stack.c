/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: local variables of callers as roots: near, deep down, in wide frames, in alloca memory.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: where a stack ends.
 */
#include <alloca.h>
#include <gc.h>

#include "watched.h"

static struct watched watched[kPlaces];

static void check(void *volatile *to, int n, const char *what) {
    fill(to, watched, n);
    collect();
    expect_kept(watched, n, what);
    wipe(to, n);
    collect();
    expect_half_dead(watched, n, what);
    forget(watched, n);
}

/* Each of the frames holds one. */
NOINLINE static void deep(int i) {
    void *volatile mine[1];
    fill(mine, &watched[i], 1);
    volatile char wide[20000];
    wide[0] = wide[19999] = 0;
    if (i + 1 < kPlaces) {
        deep(i + 1);
    } else {
        collect();
        expect_kept(watched, kPlaces, "frames of a deep recursion");
    }
    wipe(mine, 1);
}

NOINLINE static void wide(void) {
    void *volatile frame[16384]; /* 128 KiB, the ends are used */
    check(frame, kPlaces, "the near end of a wide frame");
    check(frame + 16384 - kPlaces, kPlaces, "the far end of a wide frame");
}

NOINLINE static void by_alloca(size_t size) { check(alloca(size), kPlaces, "memory of alloca"); }

int main(void) {
    void *volatile frame[kPlaces];
    GC_INIT();
    check(frame, kPlaces, "local variables of main");
    deep(0);
    collect();
    expect_half_dead(watched, kPlaces, "frames that are left");
    forget(watched, kPlaces);
    wide();
    by_alloca(kPlaces * sizeof(void *));
    return 0;
}
