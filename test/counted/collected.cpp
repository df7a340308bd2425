// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a graph that is collected a few times: a list, or a comb of blocks with many children, of which one has children
//    again, now this and now that.
// Invariant: nothing of it dies; it is reachable from one static variable.
// Must not know: how the collector marks.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

#include "granary/gc.h"

namespace {

constexpr std::size_t kBlocks = 100'000;
constexpr std::size_t kTeeth = 32;
constexpr int kCollections = 3;

void **volatile root;

void **block(std::size_t pointers) {
    auto *const made = static_cast<void **>(gr_gc_malloc(pointers * sizeof(void *)));
    if (made == nullptr) std::exit(1);
    return made;
}

void grow(std::size_t pointers) {
    root = block(pointers);
    void **last = root;
    std::minstd_rand random;
    for (std::size_t made = 1; made < kBlocks; made += pointers) {
        for (std::size_t i = 0; i < pointers; ++i) last[i] = block(pointers);
        last = static_cast<void **>(last[random() % pointers]);
    }
}

}  // namespace

int main(int count, char **words) {
    if (count != 2) return std::fputs("usage: collected list|comb\n", stderr), 2;
    if (gr_gc_init() != 0) return 1;
    grow(std::strcmp(words[1], "list") == 0 ? 1 : kTeeth);
    for (int i = 0; i < kCollections; ++i) gr_gc_collect();
    return 0;
}
