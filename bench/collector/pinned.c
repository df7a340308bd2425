/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: looks through the heap of a client of libgc when the client ends: how much memory lies in sparse units, and how
 *    many of the objects there could be moved.
 * Invariant: an object is pinned if a word that was not declared to be a pointer refers to it: on the main stack, in a
 *    variable, or in an object of a kind that is traced whole. Nothing is moved.
 * Must not know: how the collector lays out its heap, but that an object of at most half a unit shares its unit.
 */
/* usage: LD_LIBRARY_PATH=BUILD/libgc LD_PRELOAD=BUILD/bench/collector/pinned.so PROGRAM     prints on standard error */
#include <dlfcn.h>
#include <gc.h>
#include <gc/gc_mark.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kUnit = 65536, kSteps = 3 };
enum { kAtomic = 0, kNormal = 1, kUncollectable = 2, kAtomicUncollectable = 3 };
enum { kByRoot = 1, kByObject = 2 }; /* what refers to it */

struct object {
    uintptr_t begin;
    size_t bytes;
    int kind;
    int pinned;
};

static struct object *objects;
static size_t count, room;
static int (*kind_of)(const void *, size_t *);
static void (*enumerate)(GC_reachable_object_proc, void *);

static void note(void *object, size_t bytes, void *data) {
    (void)data;
    if (count == room) {
        room = room == 0 ? 1 << 20 : 2 * room;
        objects = realloc(objects, room * sizeof *objects);
        if (objects == NULL) abort();
    }
    objects[count++] = (struct object){(uintptr_t)object, bytes, kind_of(object, NULL), 0};
}

static int by_address(const void *a, const void *b) {
    uintptr_t x = ((const struct object *)a)->begin, y = ((const struct object *)b)->begin;
    return (x > y) - (x < y);
}

static struct object *object_at(uintptr_t word) {
    if (count == 0 || word < objects[0].begin) return NULL;
    size_t low = 0, high = count; /* the object begins at low or behind it */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (objects[middle].begin <= word)
            low = middle;
        else
            high = middle;
    }
    return word - objects[low].begin < objects[low].bytes ? &objects[low] : NULL;
}

static void pin(uintptr_t begin, uintptr_t end, int why) {
    for (uintptr_t at = (begin + 7) / 8 * 8; at + 8 <= end; at += 8) {
        uintptr_t word = 0;
        memcpy(&word, (const void *)at, sizeof word);
        struct object *object = object_at(word);
        if (object != NULL) object->pinned |= why;
    }
}

static int pin_by_variables(struct dl_phdr_info *info, size_t size, void *data) {
    (void)size;
    (void)data;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) == 0) continue;
        uintptr_t begin = info->dlpi_addr + segment->p_vaddr;
        pin(begin, begin + segment->p_memsz, kByRoot);
    }
    return 0;
}

static void pin_by_stack(void) {
    char line[256];
    FILE *maps = fopen("/proc/self/maps", "r");
    if (maps == NULL) abort();
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    while (fgets(line, sizeof line, maps) != NULL) {
        unsigned long begin = 0, end = 0;
        if (sscanf(line, "%lx-%lx", &begin, &end) == 2 && begin <= here && here < end) pin(here, end, kByRoot);
    }
    fclose(maps);
}

struct sum {
    size_t units, live, objects, by_root, pinned, free_of_roots, gain_of_roots, free_of_all, gain_of_all;
};

static void print(const char *name, const struct sum *s) {
    fprintf(stderr, "%-12s %7zu units %7.1f MiB, %9zu objects of %7.1f MiB; pinned %9zu, by roots alone %7zu;", name,
            s->units, (double)s->units * kUnit / 1048576, s->objects, (double)s->live / 1048576, s->pinned, s->by_root);
    fprintf(stderr, " emptied: %zu units, gain %.1f MiB; were all objects typed: %zu, gain %.1f MiB\n", s->free_of_all,
            (double)s->gain_of_all / 1048576, s->free_of_roots, (double)s->gain_of_roots / 1048576);
}

static void add_unit(struct sum *s, const struct object *first, const struct object *end) {
    size_t live = 0, by_root = 0, pinned = 0;
    for (const struct object *o = first; o < end; ++o) {
        live += o->bytes;
        by_root += (o->pinned & kByRoot) != 0;
        pinned += o->pinned != 0;
    }
    s->units += 1;
    s->live += live;
    s->objects += (size_t)(end - first);
    s->by_root += by_root;
    s->pinned += pinned;
    s->free_of_all += pinned == 0;
    s->gain_of_all += pinned == 0 ? kUnit - live : 0;
    s->free_of_roots += by_root == 0;
    s->gain_of_roots += by_root == 0 ? kUnit - live : 0;
}

static void *look(void *unused) {
    (void)unused;
    enumerate(note, NULL);
    qsort(objects, count, sizeof *objects, by_address);
    dl_iterate_phdr(pin_by_variables, NULL);
    pin_by_stack();
    for (size_t i = 0; i < count; ++i) {
        const struct object *o = &objects[i];
        if (o->kind == kUncollectable) pin(o->begin, o->begin + o->bytes, kByRoot);
        if (o->kind == kNormal) pin(o->begin, o->begin + o->bytes, kByObject);
        if (o->kind == kUncollectable || o->kind == kAtomicUncollectable) objects[i].pinned |= kByRoot;
    }
    struct sum sums[kSteps + 1] = {{0}};
    size_t large = 0;
    for (size_t i = 0, end = 0; i < count; i = end) {
        for (end = i + 1; end < count && objects[end].begin / kUnit == objects[i].begin / kUnit;) ++end;
        size_t live = 0;
        for (size_t k = i; k < end; ++k) live += objects[k].bytes;
        if (objects[i].bytes > kUnit / 2) {
            large += live;
            continue;
        }
        add_unit(&sums[kSteps], &objects[i], &objects[end]);
        for (int step = 0; step < kSteps; ++step)
            if (live <= (size_t)kUnit >> (kSteps - step)) add_unit(&sums[step], &objects[i], &objects[end]);
    }
    print("to 1/8 full", &sums[0]);
    print("to 1/4 full", &sums[1]);
    print("to 1/2 full", &sums[2]);
    print("all", &sums[kSteps]);
    fprintf(stderr, "larger objects: %.1f MiB\n", (double)large / 1048576);
    return NULL;
}

__attribute__((destructor)) static void end(void) {
    void (*collect)(void) = NULL;
    void *(*with_lock)(void *(*)(void *), void *) = NULL;
    *(void **)&collect = dlsym(RTLD_DEFAULT, "GC_gcollect");
    *(void **)&with_lock = dlsym(RTLD_DEFAULT, "GC_call_with_alloc_lock");
    *(void **)&kind_of = dlsym(RTLD_DEFAULT, "GC_get_kind_and_size");
    *(void **)&enumerate = dlsym(RTLD_DEFAULT, "GC_enumerate_reachable_objects_inner");
    if (collect == NULL || with_lock == NULL || kind_of == NULL || enumerate == NULL) return;
    collect();
    with_lock(look, NULL);
}
