/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the C++ headers: placement of objects, classes that are cleaned up, allocators for containers, operator
 *    new.
 * Invariant: containers of collected objects keep what they hold, and a destructor runs once for what has died.
 * Must not know: libgccpp's insides.
 */
#define GC_THREADS
#include <gc/gc_allocator.h>
#include <gc/gc_cpp.h>
#include <gc/gc_mark.h>

#include <list>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

extern "C" {
#include "watched.h"
}

namespace {

struct Node : public gc {
    Node *next = nullptr;
    GC_word number, check;
    explicit Node(GC_word n) : number(n), check(pattern(n, 0)) {}
};

int cleaned, cleaned_wrongly;
struct Cleaned : public gc_cleanup {
    GC_word number, check;
    Cleaned *self;
    explicit Cleaned(GC_word n) : number(n), check(pattern(n, 0)), self(this) {}
    ~Cleaned() {
        ++cleaned;
        if (check != pattern(number, 0) || self != this) ++cleaned_wrongly;
    }
};

Node *volatile list_head;
std::vector<Node *, gc_allocator<Node *>> *volatile collected_vector;

void check_nodes() {
    for (GC_word i = 0; i < 20000; ++i) {
        Node *node = new Node(i);
        node->next = list_head;
        list_head = node;
    }
    collect();
    GC_word n = 20000;
    for (Node *at = list_head; at != nullptr; at = at->next)
        CHECK(at->check == pattern(--n, 0), "an object of a class gc changed");
    CHECK(n == 0, "%lu objects of a class gc are missing", n);
    list_head = nullptr;
}

NOINLINE void make_cleaned(int n) {
    for (int i = 0; i < n; ++i) new Cleaned(static_cast<GC_word>(i));
}

Cleaned *volatile kept_cleaned;
void check_cleanup() {
    kept_cleaned = new Cleaned(1000);
    make_cleaned(100);
    collect();
    collect();
    CHECK(cleaned >= 50, "only %d of 100 objects were cleaned up", cleaned);
    CHECK(cleaned <= 100 && cleaned_wrongly == 0, "%d clean-ups, %d wrong", cleaned, cleaned_wrongly);
    int before = cleaned;
    delete kept_cleaned;
    CHECK(cleaned == before + 1, "delete does not call the destructor");
    kept_cleaned = nullptr;
    collect();
    CHECK(cleaned <= 101, "a deleted object was cleaned up again");
}

/* A container on libc's or the library's operator new holds pointers only if its allocator is scanned. */
template <class Container>
void check_container(Container &container, const char *what) {
    for (GC_word i = 0; i < 3000; ++i) container.insert(container.end(), new Node(i));
    collect();
    GC_word n = 0;
    for (Node *node : container) {
        CHECK(node->number == n && node->check == pattern(n, 0), "%s: an object changed", what);
        ++n;
    }
    CHECK(n == 3000, "%s has %lu elements", what, n);
}

void check_containers() {
    collected_vector = new (UseGC) std::vector<Node *, gc_allocator<Node *>>;
    check_container(*collected_vector, "a collected vector");
    collected_vector = nullptr;
    std::vector<Node *, traceable_allocator<Node *>> vector;
    check_container(vector, "a traceable vector");
    std::list<Node *, traceable_allocator<Node *>> list;
    check_container(list, "a traceable list");
    std::list<Node *, gc_allocator_ignore_off_page<Node *>> collected_list;
    check_container(collected_list, "a collected list");
    std::map<int, Node *, std::less<int>, traceable_allocator<std::pair<const int, Node *>>> map;
    for (int i = 0; i < 1000; ++i) map[i] = new Node(static_cast<GC_word>(i));
    collect();
    for (int i = 0; i < 1000; ++i)
        CHECK(map[i]->check == pattern(static_cast<uint64_t>(i), 0), "an object in a traceable map changed");
}

void check_placement() {
    int *plain = new (UseGC) int[100];
    CHECK(GC_get_kind_and_size(plain, nullptr) == 1, "new (UseGC) is of another kind");
    plain = new (PointerFreeGC) int[100];
    CHECK(GC_get_kind_and_size(plain, nullptr) == 0, "new (PointerFreeGC) is of another kind");
    plain = new (NoGC) int[100];
    CHECK(GC_get_kind_and_size(plain, nullptr) == 2, "new (NoGC) is of another kind");
    operator delete(plain);
}

/* libgccpp makes them uncollectable objects: what they hold is kept. */
void check_operators() {
    static struct watched watched_objects[kPlaces];
    void *volatile *array = static_cast<void *volatile *>(operator new(kPlaces * sizeof(void *)));
    static uintptr_t hidden;
    hidden = ~reinterpret_cast<uintptr_t>(array);
    fill(array, watched_objects, kPlaces);
    array = nullptr;
    collect();
    expect_kept(watched_objects, kPlaces, "memory of operator new");
    operator delete(reinterpret_cast<void *>(~hidden));
    collect();
    expect_half_dead(watched_objects, kPlaces, "memory of operator delete");
    std::vector<std::string> strings;
    for (int i = 0; i < 1000; ++i) strings.push_back("granary " + std::to_string(i) + " and more than fits inside");
    collect();
    for (int i = 0; i < 1000; ++i)
        CHECK(strings[static_cast<size_t>(i)] == "granary " + std::to_string(i) + " and more than fits inside",
              "a string changed");
    GC_set_warn_proc(GC_ignore_warn_proc);
    volatile size_t impossible = SIZE_MAX / 4;
    bool thrown = false;
    try {
        operator delete(operator new(impossible));
    } catch (const std::bad_alloc &) {
        thrown = true;
    }
    CHECK(thrown, "operator new of an impossible size does not throw");
}

}  // namespace

int main() {
    GC_INIT();
    check_nodes();
    check_cleanup();
    check_containers();
    check_placement();
    check_operators();
    return 0;
}
