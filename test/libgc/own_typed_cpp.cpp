/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: C++ types whose pointers are declared: by members, by offsets, private, inherited, in arrays and in other types;
 *    single objects, containers, and types of which nothing is said.
 * Invariant: declared pointers keep what they refer to; at least half of what only other words refer to dies. The argument
 *    0 turns interior pointers off.
 * Must not know: how the collector learns of a type.
 */
#include <gc.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <vector>

#include "granary/gc_allocator.hpp"

extern "C" {
#include "watched.h"
}

namespace {

struct Declared {
    std::uintptr_t false_first;
    void *first;
    std::uintptr_t false_second;
    void *second;
};

class Private {
  public:
    void fill(void *kept, void *lost) {
        kept_ = kept;
        lost_ = reinterpret_cast<std::uintptr_t>(lost);
    }

  private:
    friend struct gr::gc_pointers<Private>;
    std::uintptr_t lost_ = 0;
    void *kept_ = nullptr;
};

struct Base {
    std::uintptr_t lost;
    void *kept;
};
struct Derived : Base {
    std::uintptr_t own_lost;
    void *own_kept;
};

struct Pair {
    void *kept;
    std::uintptr_t lost;
};
struct Nested {
    std::uintptr_t lost;
    Pair pairs[3];
    void *array[2];
    std::atomic<void *> atomic;
    double numbers[2];
};

struct ByOffsets {
    std::uintptr_t lost;
    void *kept;
};

struct Undeclared {
    std::uintptr_t first;
    void *second;
};

struct Throws {
    Throws() { throw std::runtime_error("as meant"); }
    void *pointer = nullptr;
};

}  // namespace

GR_GC_POINTERS(Declared, &Declared::first, &Declared::second);
GR_GC_POINTERS(Private, &Private::kept_);
GR_GC_POINTERS(Derived, &Derived::kept, &Derived::own_kept);
GR_GC_POINTERS(Pair, &Pair::kept);
GR_GC_POINTERS(Nested, &Nested::pairs, &Nested::array, &Nested::atomic, &Nested::numbers);
GR_GC_POINTERS(Throws, &Throws::pointer);
template <>
struct gr::gc_pointers<ByOffsets> {
    static constexpr auto offsets() { return std::array{offsetof(ByOffsets, kept)}; }
};

static_assert(gr::has_gc_pointers<Declared>::value && !gr::has_gc_pointers<Undeclared>::value);
static_assert(gr::gc_words<Nested>::count() == 3 + 2 + 1);
static_assert(gr::gc_words<Undeclared>::count() == 2 && gr::gc_words<double[4]>::count() == 0);

namespace {

constexpr int kMany = 64;
watched kept[kMany * 8];
watched lost[kMany * 8];
int kept_count;
int lost_count;
void *volatile *roots;

void *keep() {
    ++kept_count;
    return watch_new(&kept[kept_count - 1], 48, static_cast<std::uint64_t>(kept_count - 1));
}
void *lose() {
    ++lost_count;
    return watch_new(&lost[lost_count - 1], 48, static_cast<std::uint64_t>(lost_count - 1));
}
std::uintptr_t lose_as_number() { return reinterpret_cast<std::uintptr_t>(lose()); }

void expect(const char *what) {
    scrub();
    collect();
    expect_kept(kept, kept_count, what);
    if (lost_count != 0) expect_half_dead(lost, lost_count, what);
    forget(kept, kept_count);
    forget(lost, lost_count);
    kept_count = lost_count = 0;
    wipe(roots, kMany);
}

template <class T, class Fill>
NOINLINE void make(Fill fill) {
    for (int i = 0; i < kMany; ++i) {
        T *const object = gr::gc_new<T>();
        fill(object);
        roots[i] = object;
    }
}

NOINLINE void fill_vector(std::vector<Declared, gr::gc_allocator<Declared>> *vector) {
    for (int i = 0; i < kMany; ++i) vector->push_back({lose_as_number(), keep(), lose_as_number(), keep()});
}

NOINLINE void fill_numbers(std::vector<int, gr::gc_allocator<int>> *numbers) {
    numbers->resize(2 * kMany);
    for (int i = 0; i < kMany; ++i) {
        void *const object = lose();
        std::memcpy(&(*numbers)[static_cast<std::size_t>(2 * i)], &object, sizeof object);
    }
}

void check_objects() {
    make<Declared>([](Declared *d) { *d = {lose_as_number(), keep(), lose_as_number(), keep()}; });
    expect("declared members");
    make<Private>([](Private *p) { p->fill(keep(), lose()); });
    expect("a private member");
    make<Derived>([](Derived *d) {
        d->lost = lose_as_number();
        d->kept = keep();
        d->own_lost = lose_as_number();
        d->own_kept = keep();
    });
    expect("members of a base class");
    make<Nested>([](Nested *n) {
        n->lost = lose_as_number();
        n->pairs[2] = {keep(), lose_as_number()};
        n->array[1] = keep();
        n->atomic = keep();
        void *const object = lose();
        std::memcpy(&n->numbers[1], &object, sizeof object);
    });
    expect("members of members");
    make<ByOffsets>([](ByOffsets *b) { *b = {lose_as_number(), keep()}; });
    expect("offsets");
    make<Undeclared>([](Undeclared *u) { *u = {reinterpret_cast<std::uintptr_t>(keep()), keep()}; });
    expect("a type of which nothing is said");
}

void check_containers() {
    std::vector<Declared, gr::gc_allocator<Declared>> vector;
    fill_vector(&vector);
    roots[0] = vector.data();
    expect("a vector of a declared type");
    std::vector<int, gr::gc_allocator<int>> numbers;
    fill_numbers(&numbers);
    roots[0] = numbers.data();
    expect("a vector of numbers");
    const std::vector<Declared, gr::gc_allocator<Declared>> one(1);
    CHECK(one.front().first == nullptr, "an element");
}

void check_throws() {
    bool thrown = false;
    try {
        gr::gc_new<Throws>();
    } catch (const std::runtime_error &) {
        thrown = true;
    }
    CHECK(thrown, "what the constructor throws is lost");
    volatile std::size_t many = SIZE_MAX / 2;
    thrown = false;
    try {
        gr::gc_allocator<Declared>().deallocate(gr::gc_allocator<Declared>().allocate(many), many);
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown, "an impossible size");
}

}  // namespace

int main(int argc, char **argv) {
    GC_set_all_interior_pointers(static_cast<int>(argument(argc, argv, 0, 1)));
    CHECK(gr_gc_init() == 0, "gr_gc_init");
    roots = static_cast<void *volatile *>(gr_gc_malloc_uncollectable(kMany * sizeof(void *)));
    check_objects();
    check_containers();
    check_throws();
    return 0;
}
