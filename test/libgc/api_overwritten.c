/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: objects of the debug functions that are written behind their end: a collection tells of them.
 * Invariant: by the place where they were allocated, while they live; nothing is told of those that are whole, nor of
 *    memory of theirs that another has without a debug header.
 * Must not know: the words of the report.
 */
#define GC_DEBUG
#include <gc.h>

#include "watched.h"

enum { kSize = 40, kObjects = 200 };
static char *volatile held[kObjects];

NOINLINE static void make_atomic(void) {
    for (int i = 0; i < kObjects; ++i) memset(GC_MALLOC_ATOMIC(kSize), i, kSize);
    scrub();
}

/* Written from the middle on: the header of the block's former object may still lie there. */
NOINLINE static void take_without_header(void) {
    for (int i = 0; i < kObjects; ++i) {
        held[i] = GC_malloc_atomic(kSize + 39);
        memset(held[i] + 39, 0x55, kSize);
    }
}

/* What is written to the standard error output in a collection. */
static const char *collected(void) {
    static char text[4000];
    FILE *to = tmpfile();
    int errors = dup(STDERR_FILENO);
    CHECK(to != NULL && errors >= 0 && dup2(fileno(to), STDERR_FILENO) >= 0, "the output cannot be kept");
    GC_gcollect();
    CHECK(dup2(errors, STDERR_FILENO) >= 0, "the output cannot be had again");
    close(errors);
    rewind(to);
    text[fread(text, 1, sizeof text - 1, to)] = '\0';
    fclose(to);
    return text;
}

int main(void) {
    GC_INIT();
    for (int i = 0; i < kObjects; ++i)
        held[i] = i % 3 == 0 ? GC_MALLOC_ATOMIC(kSize) : i % 3 == 1 ? GC_MALLOC_UNCOLLECTABLE(kSize) : GC_MALLOC(kSize);
    for (int i = 0; i < kObjects; ++i) memset(held[i], 0xff, kSize);
    CHECK(strlen(collected()) == 0, "objects that are whole are told of: %s", collected());
    char *behind = held[7] + kSize + 2, had = *behind;
    *behind = 42;
    const char *text = collected();
    CHECK(strstr(text, "api_overwritten.c") != NULL, "no word of an object that was overwritten: %s", text);
    *behind = had;
    CHECK(strlen(collected()) == 0, "objects that are whole again are told of: %s", collected());

    make_atomic();
    GC_gcollect();
    GC_gcollect();
    take_without_header();
    CHECK(strlen(collected()) == 0, "objects without a debug header are told of: %s", collected());
    return 0;
}
