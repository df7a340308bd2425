/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the roots callback: ranges pushed whole, eagerly and conditionally, and the old one called.
 * Invariant: what the callback pushes is kept, and only as long as it does.
 * Must not know: who scans the stacks.
 */
#include <gc.h>
#include <gc/gc_mark.h>
#include <sys/mman.h>

#include "watched.h"

static void *volatile *memory; /* mapped, so no root by itself */
static GC_push_other_roots_proc others;
static int way, calls;

static void push(void) {
    void *low = (void *)memory, *end = (void *)(memory + kPlaces);
    ++calls;
    if (way == 0) GC_push_all_eager(low, end);
    if (way == 1) GC_push_all(low, end);
    if (way == 2) GC_push_conditional(low, end, 1);
    others();
}

static void put(int i, void *object) { memory[i] = object; }
static void clear(int i) { memory[i] = NULL; }

int main(void) {
    static const char *const ways[] = {"GC_push_all_eager", "GC_push_all", "GC_push_conditional"};
    static struct watched watched[kPlaces], local[kPlaces];
    void *volatile frame[kPlaces];
    GC_INIT();
    memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(memory != MAP_FAILED, "no memory");
    others = GC_get_push_other_roots();
    CHECK(others != NULL, "no default");
    GC_set_push_other_roots(push);
    CHECK(GC_get_push_other_roots() == push, "GC_get_push_other_roots");
    for (way = 0; way < 3; ++way) {
        calls = 0;
        check_place(&(struct place){.what = ways[way], .put = put, .clear = clear});
        CHECK(calls >= 2, "%s: the callback was called %d times", ways[way], calls);
    }
    fill(memory, watched, kPlaces);
    fill(frame, local, kPlaces);
    collect();
    expect_half_dead(watched, kPlaces, "memory that the callback does not push");
    expect_kept(local, kPlaces, "the stack, by the old callback");
    GC_set_push_other_roots(others);
    calls = 0;
    GC_gcollect();
    CHECK(calls == 0, "a callback that was taken back was called");
    expect_kept(local, kPlaces, "the stack, with the old callback put back");
    wipe(frame, kPlaces);
    return 0;
}
