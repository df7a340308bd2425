// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that defines malloc and free itself, and nothing else of the family.
// Invariant: its own two win over the preloaded ones everywhere, and the rest of the family still works.
// Must not know: who serves calloc.
#include "black_box.hpp"

#include <atomic>
#include <cstddef>
#include <string>

namespace {

constexpr std::size_t kPoolSize = std::size_t{16} << 20;

alignas(16) std::byte pool[kPoolSize];
std::atomic<std::size_t> used{0};
std::atomic<int> frees{0};

bool from_pool(const void *block) { return block >= pool && block < pool + kPoolSize; }

}  // namespace

// Gives out the pool front to back and takes nothing back.
extern "C" void *malloc(std::size_t size) noexcept {
    const std::size_t begin = used.fetch_add((size + 16) / 16 * 16);
    return begin + size <= kPoolSize ? pool + begin : nullptr;
}

extern "C" void free(void *) noexcept { ++frees; }

int main() {
    gr::black_box::require_granary();
    char *text = strdup("a text for libc to copy");
    GR_REQUIRE(from_pool(text));
    free(text);
    GR_REQUIRE(frees > 0);
    for (std::size_t size = 1; size < 1000000; size *= 3) {
        unsigned char *cleared = static_cast<unsigned char *>(calloc(1, size));
        GR_REQUIRE(cleared != nullptr && !from_pool(cleared) && cleared[size - 1] == 0);
        cleared = static_cast<unsigned char *>(realloc(cleared, 2 * size));
        GR_REQUIRE(cleared != nullptr);
        std::memset(cleared, 1, 2 * size);
        free(cleared);
    }
    std::string grown;
    for (int i = 0; i < 10000; ++i) {
        grown += "x";
    }
    GR_REQUIRE(grown.size() == 10000);
    return 0;
}
