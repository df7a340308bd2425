// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      a program that is linked with libgranary and calls malloc under the names of <granary/malloc.h>, while a
//            collector serves malloc. The argument says whether a block that was freed may be handed out again while a
//            pointer to it lies somewhere: free or held.
// Invariant: a block keeps what it holds; the names that begin with gr_ do what libc's names do under the collector.
// Must not know: how the collector comes between.
#include <granary/malloc.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kBlock = 208;
constexpr std::size_t kMany = 400'000;

void require(bool holds, const char *what) {
    if (holds) return;
    std::fprintf(stderr, "does not hold: %s\n", what);
    std::exit(1);
}

bool holds(const void *block, int value, std::size_t size) {
    const auto *const bytes = static_cast<const unsigned char *>(block);
    for (std::size_t i = 0; i < size; ++i) {
        if (bytes[i] != value) return false;
    }
    return true;
}

void *kept = nullptr;  // a root

// Much more than fits unless what is freed or forgotten is used again.
void churn(bool must_not_be_kept) {
    for (std::size_t i = 0; i < kMany; ++i) {
        void *const block = gr_malloc(kBlock);
        require(block != nullptr, "there is memory");
        if (must_not_be_kept) require(block != kept, "a freed block that is pointed to is not handed out");
        std::memset(block, 0xa5, kBlock);
        gr_free(block);
    }
}

void *of_every_name() {
    void *block = gr_calloc(10, 10);
    require(holds(block, 0, 100), "gr_calloc clears");
    std::memset(block, 7, 100);
    block = gr_reallocarray(gr_realloc(block, 200), 300, 10);
    require(holds(block, 7, 100), "gr_realloc keeps what the block holds");
    block = gr_aligned_realloc(block, 4096, 100'000);
    require(reinterpret_cast<std::uintptr_t>(block) % 4096 == 0, "gr_aligned_realloc aligns");
    require(holds(block, 7, 100), "gr_aligned_realloc keeps what the block holds");
    require(gr_resize_in_place(block, 50'000, 60'000) >= 50'000, "a block that is large enough stays");
    require(gr_resize_in_place(block, SIZE_MAX, SIZE_MAX) == 0, "no block is so large");
    require(holds(block, 7, 100), "gr_resize_in_place keeps what the block holds");
    void *other = gr_aligned_calloc(256, 10, 10);
    require(reinterpret_cast<std::uintptr_t>(other) % 256 == 0 && holds(other, 0, 100), "gr_aligned_calloc");
    gr_free_sized(other, 100);
    other = gr_aligned_alloc(512, 100);
    require(reinterpret_cast<std::uintptr_t>(other) % 512 == 0, "gr_aligned_alloc aligns");
    gr_free_aligned_sized(other, 512, 100);
    require(gr_posix_memalign(&other, 1024, 100) == 0 && gr_malloc_usable_size(other) >= 100, "gr_posix_memalign");
    std::free(other);
    return block;
}

}  // namespace

int main(int argc, char **argv) {
    const bool is_held = argc == 2 && std::strcmp(argv[1], "held") == 0;
    require(gr_version() == GR_VERSION, "the library is this version");
    void *const live = of_every_name();
    kept = gr_malloc(kBlock);
    gr_free(kept);
    churn(is_held);
    kept = gr_malloc(kBlock);
    std::memset(kept, 9, kBlock);
    churn(true);
    require(holds(kept, 9, kBlock), "a block that is in use keeps what it holds");
    require(holds(live, 7, 100), "and so does another");
    gr_free(live);
    gr_free(kept);
    return 0;
}
