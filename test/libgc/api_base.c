/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: what an address belongs to: GC_base, GC_size, GC_is_heap_ptr, and the checks of pointer arithmetic.
 * Invariant: answers are the same for each byte of an object.
 * Must not know: size classes.
 */
#include <gc.h>
#include <gc/gc_mark.h>

#include "check.h"

static int static_variable = 1;
static int complaints;
static void complain_of_two(void *p, void *q) {
    (void)p;
    (void)q;
    ++complaints;
}
static void complain(void *p) {
    (void)p;
    ++complaints;
}

static void check_object(size_t n) {
    char *object = GC_malloc(n);
    size_t size = GC_size(object);
    CHECK(size >= n + 1, "GC_size after GC_malloc(%zu) is %zu: no byte for a pointer to the end", n, size);
    /* The byte for a pointer to the end takes no page of a large object: it lies in the unused rest of the last unit. */
    int ends_in_rest = size % 4096 == 1;
    CHECK(size % 16 == 0 || (ends_in_rest && n > 20000), "GC_size after GC_malloc(%zu) is %zu", n, size);
    size_t step = n < 5000 ? 1 : 777;
    for (size_t i = 0; i <= n; i += step) {
        CHECK(GC_base(object + i) == object, "GC_base of byte %zu of %zu is %p, not %p", i, n, GC_base(object + i),
              (void *)object);
        CHECK(GC_is_heap_ptr(object + i), "byte %zu of %zu is not in the heap", i, n);
    }
    CHECK(GC_base(object + size - 1) == object, "GC_base of the last byte of the slot of %zu", n);
    CHECK(ends_in_rest || GC_base(object + size) != object, "GC_base of the byte behind the slot of %zu", n);
    CHECK(object >= (char *)GC_least_plausible_heap_addr && object + n <= (char *)GC_greatest_plausible_heap_addr,
          "an object of %zu bytes lies outside the plausible addresses", n);
    CHECK(GC_same_obj(object, object + n) == object, "GC_same_obj of one object");
    CHECK(GC_is_visible(&object) == &object, "GC_is_visible of a local variable");
    CHECK(GC_is_valid_displacement(object + n / 2) == object + n / 2, "GC_is_valid_displacement");
    void *at = object;
    CHECK(GC_pre_incr(&at, (ptrdiff_t)n) == object + n && at == object + n, "GC_pre_incr");
    CHECK(GC_post_incr(&at, -(ptrdiff_t)n) == object + n && at == object, "GC_post_incr");
    CHECK(complaints == 0, "a check complained of nothing at an object of %zu", n);
}

int main(void) {
    int local;
    CHECK(GC_base(&local) == NULL, "GC_base before GC_init of a local variable");
    GC_INIT();
    GC_same_obj_print_proc = complain_of_two;
    GC_is_visible_print_proc = complain;
    GC_is_valid_displacement_print_proc = complain;
    static const size_t sizes[] = {0,    1,    8,    15,   16,   17,    100,   383,    384,
                                   1000, 2047, 4095, 4096, 5000, 20000, 65536, 1000000};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; ++i) check_object(sizes[i]);

    void *foreign[] = {NULL,        &local,         &static_variable,       (void *)16, (void *)~(uintptr_t)15,
                       malloc(100), (void *)"text", (void *)(uintptr_t)main};
    for (unsigned i = 0; i < sizeof foreign / sizeof foreign[0]; ++i) {
        CHECK(GC_base(foreign[i]) == NULL, "GC_base of what is not in the heap (case %u) is %p", i,
              GC_base(foreign[i]));
        CHECK(!GC_is_heap_ptr(foreign[i]), "what is not in the heap (case %u) is said to be", i);
    }

    char *one = GC_malloc(100), *other = GC_malloc(100);
    GC_same_obj(one, other);
    CHECK(complaints == 1, "GC_same_obj did not complain of two objects");
    GC_same_obj(one, &local);
    CHECK(complaints == 2, "GC_same_obj did not complain of an object and a variable");
    void *at = one;
    GC_pre_incr(&at, other - one);
    CHECK(complaints == 3, "GC_pre_incr did not complain of leaving the object");
    GC_is_visible((char *)&local + 1);
    CHECK(complaints == 4, "GC_is_visible did not complain of an address that is not aligned");
    free(foreign[5]);
    return 0;
}
