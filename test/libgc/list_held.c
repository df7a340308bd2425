/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: a thread that holds the loader's list of libraries, in a callback of dl_iterate_phdr, and there waits for a lock
 *    whose holder collects, or collects itself.
 * Invariant: each collection returns. It is done if no library came or went since the last one; else nothing is freed.
 * Must not know: how libraries are found.
 */
#define GC_THREADS
#include <gc.h>
#include <link.h>
#include <semaphore.h>

#include "library.h"
#include "watched.h"

enum { kCollections = 50 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t is_held;

static int wait_for_lock(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)info, (void)size, (void)argument;
    sem_post(&is_held);
    pthread_mutex_lock(&lock);
    pthread_mutex_unlock(&lock);
    return 1;
}
static void *hold_list(void *argument) {
    dl_iterate_phdr(wait_for_lock, NULL);
    return argument;
}

/* Returns how many collections were done. */
static int collect_while_list_is_held(void) {
    pthread_t holder;
    pthread_mutex_lock(&lock);
    CHECK(pthread_create(&holder, NULL, hold_list, NULL) == 0, "no thread");
    sem_wait(&is_held);
    GC_word before = GC_get_gc_no();
    collect();
    int done = (int)(GC_get_gc_no() - before);
    pthread_mutex_unlock(&lock);
    pthread_join(holder, NULL);
    return done;
}

static void begin(void) {
    sem_init(&is_held, 0, 0);
    GC_INIT();
    GC_set_warn_proc(GC_ignore_warn_proc);
}

static struct watched left[kPlaces];
static void *volatile own[kPlaces];

static void with_known_libraries(void) {
    begin();
    for (int round = 0; round < 2; ++round) {
        fill(own, left, kPlaces);
        scrub();
        CHECK(collect_while_list_is_held() > 0, "nothing was collected");
        expect_kept(left, kPlaces, "variables of the program");
        wipe(own, kPlaces);
        collect_while_list_is_held();
        expect_half_dead(left, kPlaces, "variables of the program");
        forget(left, kPlaces);
    }
}

/* What only its variables refer to is seen by nobody but who looks anew. */
static void with_a_new_library(void) {
    begin();
    collect();
    void *volatile *bss = library_symbol(library_open("library.so"), "library_bss");
    fill(bss, left, kPlaces);
    scrub();
    CHECK(collect_while_list_is_held() == 0, "a collection without the new library");
    expect_kept(left, kPlaces, "variables of a new library");
    collect();
    CHECK(collect_while_list_is_held() > 0, "nothing was collected");
    expect_kept(left, kPlaces, "variables of a library that is known by now");
}

static void without_a_library(void) {
    void *library = library_open("library.so");
    begin();
    collect();
    CHECK(dlclose(library) == 0, "dlclose failed");
    CHECK(collect_while_list_is_held() == 0, "a collection with a library that is gone");
    collect();
    CHECK(collect_while_list_is_held() > 0, "nothing was collected");
}

static void *collects(void *argument) {
    for (int i = 0; i < kCollections; ++i) GC_gcollect();
    return argument;
}
static int collect_in_callback(struct dl_phdr_info *info, size_t size, void *argument) {
    (void)info, (void)size, (void)argument;
    GC_gcollect();
    return 1;
}
static void by_who_holds_it(void) {
    pthread_t collector;
    begin();
    CHECK(pthread_create(&collector, NULL, collects, NULL) == 0, "no thread");
    for (int i = 0; i < kCollections; ++i) dl_iterate_phdr(collect_in_callback, NULL);
    pthread_join(collector, NULL);
}

/* There the holder is gone, and the list stays locked for ever. */
static void in_a_child(void) {
    pthread_t holder;
    begin();
    collect();
    pthread_mutex_lock(&lock);
    CHECK(pthread_create(&holder, NULL, hold_list, NULL) == 0, "no thread");
    sem_wait(&is_held);
    fill(own, left, kPlaces);
    pid_t child = fork();
    if (child == 0) {
        GC_word before = GC_get_gc_no();
        collect();
        CHECK(GC_get_gc_no() > before, "nothing was collected");
        expect_kept(left, kPlaces, "variables of the program");
        _exit(0);
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "a child that inherits the list: %x", (unsigned)status);
    pthread_mutex_unlock(&lock);
    pthread_join(holder, NULL);
}

int main(void) {
    exit_on_bdwgc("a collection waits for the list for ever");
    run_apart("the libraries are known", with_known_libraries);
    run_apart("a library is new", with_a_new_library);
    run_apart("a library is gone", without_a_library);
    run_apart("its holder collects", by_who_holds_it);
    run_apart("its holder is not in the child", in_a_child);
    return 0;
}
