/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: libraries that come and go in several threads while others allocate and collect.
 * Invariant: what a library's variables hold is whole until it goes, and its going harms nothing else.
 * Must not know: how libraries are found.
 */
/* usage: dlopen_storm [rounds] */
#define GC_THREADS
#include <gc.h>
#include <sched.h>

#include "library.h"
#include "watched.h"

enum { kThreads = 3 };
static char copies[kThreads][PATH_MAX];
static volatile int end;
static long rounds;
static int is_bdwgc;

/* Copies, since one that is open twice does not go. */
static void copy_library(const char *from, const char *to) {
    static char bytes[1 << 20];
    FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
    CHECK(in != NULL && out != NULL, "library.so cannot be copied");
    size_t length = fread(bytes, 1, sizeof bytes, in);
    CHECK(length > 0 && length < sizeof bytes && fwrite(bytes, 1, length, out) == length,
          "library.so cannot be copied");
    fclose(in);
    CHECK(fclose(out) == 0, "library.so cannot be copied");
}

static void *close_it(void *library) {
    CHECK(dlclose(library) == 0, "dlclose failed");
    return NULL;
}

NOINLINE static void fill_both(void *volatile *data, void *volatile *bss, GC_word seed) {
    for (GC_word i = 0; i < 32; ++i) {
        GC_word *one = GC_malloc(48), *other = GC_malloc(48);
        one[1] = other[1] = pattern(seed + i, 1);
        data[i] = one;
        bss[i] = other;
    }
}

static void *open_and_close(void *argument) {
    const char *path = argument;
    for (long round = 0; round < rounds; ++round) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        CHECK(library != NULL, "%s", dlerror());
        void *volatile *data = library_symbol(library, "library_data"), *volatile *bss =
                                                                            library_symbol(library, "library_bss");
        fill_both(data, bss, (GC_word)round);
        for (int i = 0; i < 200; ++i) memset(GC_malloc(48), 0xcc, 48);
        if (round % 4 == 0) GC_gcollect();
        for (GC_word i = 0; i < 32; ++i) {
            CHECK(((GC_word *)data[i])[1] == pattern((GC_word)round + i, 1),
                  "an object behind a library's data changed");
            CHECK(((GC_word *)bss[i])[1] == pattern((GC_word)round + i, 1), "an object behind a library's bss changed");
        }
        /* 8.2.2 scans what it found before; a library that goes meanwhile would be its end. */
        if (is_bdwgc)
            GC_call_with_alloc_lock(close_it, library);
        else
            close_it(library);
    }
    return NULL;
}

static void *collects(void *argument) {
    while (!end) {
        GC_gcollect();
        sched_yield();
    }
    return argument;
}

int main(int argc, char **argv) {
    char path[PATH_MAX + 20], folder[] = "/tmp/dlopen_storm.XXXXXX";
    pthread_t threads[kThreads], collector;
    rounds = argument(argc, argv, 0, 150);
    is_bdwgc = skip_on_bdwgc("dlclose beside a collection, without the lock");
    library_path("library.so", path, sizeof path);
    CHECK(mkdtemp(folder) != NULL, "no folder in /tmp");
    GC_INIT();
    CHECK(pthread_create(&collector, NULL, collects, NULL) == 0, "no thread");
    for (int i = 0; i < kThreads; ++i) {
        snprintf(copies[i], sizeof copies[i], "%s/%d.so", folder, i);
        copy_library(path, copies[i]);
        CHECK(pthread_create(&threads[i], NULL, open_and_close, copies[i]) == 0, "no thread");
    }
    for (int i = 0; i < kThreads; ++i) CHECK(pthread_join(threads[i], NULL) == 0, "pthread_join failed");
    end = 1;
    pthread_join(collector, NULL);
    for (int i = 0; i < kThreads; ++i) unlink(copies[i]);
    rmdir(folder);
    return 0;
}
