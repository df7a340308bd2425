// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      a library of a stranger that has libgranary-prefixed.a in it.
// Invariant: it exports two functions. Its heap has room of its own, however many such libraries there are.
// Must not know: who loads it.
#include <granary/malloc.h>

extern "C" {
__attribute__((visibility("default"))) int use_plugin(unsigned rounds);
__attribute__((visibility("default"))) int fill_plugin(size_t bytes);
}

int use_plugin(unsigned rounds) {
    for (unsigned i = 0; i < rounds; ++i) {
        void *const block = gr_malloc(i % 2000);
        if (block == nullptr || gr_owns(block) != 1) return 1;
        gr_free(block);
    }
    return 0;
}

int fill_plugin(size_t bytes) {
    struct Linked {
        struct Linked *next;
        char rest[30000 - sizeof(void *)];
    };
    gr_statistics taken{};
    taken.size = sizeof taken;
    Linked *all = nullptr;
    for (size_t held = 0; held < bytes; held += sizeof *all) {
        auto *const block = static_cast<Linked *>(gr_malloc(sizeof *all));
        if (block == nullptr) return 1;
        block->next = all;
        all = block;
    }
    if (gr_statistics_get(&taken) != 0 || taken.direct_count != 0) return 1;
    while (all != nullptr) {
        Linked *const next = all->next;
        gr_free(all);
        all = next;
    }
    return 0;
}
