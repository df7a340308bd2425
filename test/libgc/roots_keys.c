/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: values of pthread keys as roots: the first 32, which lie in libc's record of the thread, and the others.
 * Invariant: the place named is the only one that keeps the objects; cleared, it keeps them no more.
 * Must not know: where libc keeps them.
 */
#define GC_THREADS
#include <gc.h>

#include "watched.h"

enum { kInRecord = 32, kKeys = 100 };
static pthread_key_t keys[kKeys];

static void put(int i, void *object) { CHECK(pthread_setspecific(keys[i], object) == 0, "pthread_setspecific failed"); }
static void clear(int i) { put(i, NULL); }

int main(void) {
    static struct helper helper;
    GC_INIT();
    int in_record = 0; /* others may have made some keys already */
    for (int i = 0; i < kKeys; ++i) {
        CHECK(pthread_key_create(&keys[i], NULL) == 0, "no key");
        if (keys[i] < kInRecord) in_record = i + 1;
    }
    if (in_record == 0) not_available("keys below 32");
    helper_start(&helper);
    if (!skip_on_bdwgc("values of pthread keys")) {
        check_place(&(struct place){
            .what = "the first keys, main", .put = put, .clear = clear, .first = 0, .count = in_record});
        check_place(&(struct place){.what = "keys beyond 32, main", .put = put, .clear = clear, .first = in_record});
        check_place(&(struct place){.what = "the first keys, a thread",
                                    .put = put,
                                    .clear = clear,
                                    .in = &helper,
                                    .first = 0,
                                    .count = in_record});
        check_place(&(struct place){
            .what = "keys beyond 32, a thread", .put = put, .clear = clear, .in = &helper, .first = in_record});
    }
    helper_end(&helper);
    return 0;
}
