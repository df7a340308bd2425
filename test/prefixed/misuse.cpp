// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      one misuse of the prefixed library a run (the first argument names it).
// Invariant: the one line on standard output is the message that would be right: it has the names that this program called.
// Must not know: how a misuse is found.
#include "black_box.hpp"

#include <malloc.h>

namespace {

using gr::black_box::opaque;
using gr::black_box::say;

constexpr std::size_t kLarge = std::size_t{1} << 20;
constexpr const char *kForeign = "not a block of this heap: a foreign pointer, or a large block that is already free";

void expect(const char *function, const void *pointer, const char *what) {
    say(STDOUT_FILENO, "granary: %s(%p): %s; aborting\n", function, pointer, what);
}

void free_of_libc() {
    void *const block = opaque(std::malloc(100));
    expect("gr_free", block, kForeign);
    gr_free(block);
}

// Of libgranary's, which is preloaded: the other copy, not this one, is asked.
void free_of_granary() {
    void *const block = opaque(gr_malloc(100));
    expect("free", block, kForeign);
    std::free(block);
}

void realloc_of_libc() {
    void *const block = opaque(std::malloc(100));
    expect("gr_realloc", block, kForeign);
    opaque(gr_realloc(block, 200));
}

void free_twice() {
    void *const block = opaque(gr_malloc(kLarge));
    void *const again = opaque(block);
    expect("gr_free", block, kForeign);
    gr_free(block);
    gr_free(again);
}

void resize_of_libc() {
    void *const block = opaque(std::malloc(100));
    expect("gr_resize_in_place", block, kForeign);
    opaque(gr_resize_in_place(block, 200, 200));
}

void heap_free_of_malloc() {
    void *const block = opaque(gr_malloc(100));
    expect("gr_heap_free", block, "not a block of this heap but of gr_malloc: release it with gr_free");
    gr_heap_free(gr_heap_new(0), block);
}

void usable_size_of_heap() {
    void *const block = opaque(gr_heap_malloc(gr_heap_new(0), 100));
    expect("gr_malloc_usable_size", block,
           "not a block of this heap but of another heap: release it with gr_heap_free and that heap");
    opaque(gr_malloc_usable_size(block));
}

struct Case {
    const char *name;
    void (*run)();
};
constexpr Case kCases[] = {{"free_of_libc", free_of_libc},
                           {"free_of_granary", free_of_granary},
                           {"realloc_of_libc", realloc_of_libc},
                           {"free_twice", free_twice},
                           {"resize_of_libc", resize_of_libc},
                           {"heap_free_of_malloc", heap_free_of_malloc},
                           {"usable_size_of_heap", usable_size_of_heap}};

}  // namespace

int main(int argc, char **argv) {
    for (const Case &each : kCases) {
        if (argc == 2 && std::strcmp(argv[1], each.name) == 0) {
            each.run();
            gr::black_box::leave(3, "the misuse was not found\n");
        }
    }
    gr::black_box::leave(2, "no such misuse: %s\n", argc == 2 ? argv[1] : "(none given)");
}
