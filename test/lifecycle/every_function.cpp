// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: each function of the malloc family, for tools that take the place of the allocator, as valgrind does.
// Invariant: nothing is checked here: the tool that watches tells whether each block is released by the allocator that made
//    it.
// Must not know: which allocator serves it.
#include <malloc.h>

#include <cstdlib>

extern "C" {
[[gnu::weak]] void free_sized(void *p, std::size_t size);
[[gnu::weak]] void free_aligned_sized(void *p, std::size_t alignment, std::size_t size);
}

namespace {

// The compiler may neither pair two calls nor leave them out.
void *kept(void *p) {
    asm volatile("" : "+r"(p) : : "memory");
    return p;
}

}  // namespace

int main() {
    std::free(kept(std::malloc(100)));
    std::free(kept(std::calloc(10, 10)));
    std::free(kept(std::realloc(kept(std::malloc(100)), 10000)));
    std::free(kept(reallocarray(nullptr, 10, 10)));
    std::free(kept(reallocarray(kept(std::malloc(100)), 100, 100)));
    std::free(kept(reallocarray(kept(reallocarray(nullptr, 10, 10)), 100, 1000)));
    std::free(kept(std::aligned_alloc(64, 640)));
    std::free(kept(memalign(64, 100)));
    std::free(kept(valloc(100)));
    std::free(kept(pvalloc(100)));
    std::free(kept(std::realloc(kept(pvalloc(100)), 100)));
    void *p = nullptr;
    if (posix_memalign(&p, 64, 100) != 0) return 1;
    static_cast<void>(malloc_usable_size(kept(p)));
    std::free(p);
    if (free_sized == nullptr || free_aligned_sized == nullptr) return 1;
    free_sized(kept(std::malloc(100)), 100);
    free_aligned_sized(kept(std::aligned_alloc(64, 640)), 64, 640);
    return 0;
}
