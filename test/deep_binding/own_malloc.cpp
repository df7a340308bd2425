// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program with a malloc of its own opens the plugin with RTLD_DEEPBIND, the library preloaded in vain.
// Invariant: the library is not the process's malloc, so the plugin gets libc's, as it would without the library.
// Must not know: how the library finds out. The plugin's path is the first argument.
#include <cstring>

#include "black_box.hpp"
#include "plugin.hpp"

namespace {

alignas(16) char arena[std::size_t{16} << 20];
std::size_t used = 0;

// The size lies before the block.
void *take(std::size_t size) {
    constexpr std::size_t kHeader = 16;
    const std::size_t bytes = ((size + 15) & ~std::size_t{15}) + kHeader;
    const std::size_t start = __atomic_fetch_add(&used, bytes, __ATOMIC_RELAXED);
    if (start + bytes > sizeof arena) return nullptr;
    std::memcpy(arena + start, &size, sizeof size);
    return arena + start + kHeader;
}

bool is_own(const void *block) { return block >= arena && block < arena + sizeof arena; }

}  // namespace

extern "C" {
void *malloc(std::size_t size) { return take(size); }
void *calloc(std::size_t count, std::size_t size) { return take(count * size); }  // the arena is all zero
void *realloc(void *old, std::size_t size) {
    void *const block = take(size);
    if (old == nullptr || block == nullptr) return block;
    std::size_t before = 0;
    std::memcpy(&before, static_cast<char *>(old) - 16, sizeof before);
    return std::memcpy(block, old, before < size ? before : size);
}
void free(void *) {}
}

int main(int argc, char **argv) {
    gr::black_box::require_granary();
    GR_REQUIRE(argc == 2);
    void *const handle = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
    GR_REQUIRE(handle != nullptr);
    const Plugin plugin(handle);
    void *const block = plugin.allocate(0, 100);
    GR_REQUIRE(block != nullptr && !is_own(block) && gr_owns(block) == 0);
    GR_REQUIRE(is_own(gr::black_box::opaque(std::malloc(100))));
    plugin.release(block);
    return 0;
}
