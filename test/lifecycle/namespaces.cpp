// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that opens the library again in namespaces of their own (dlmopen) and allocates from each copy in turn.
// Invariant: each copy grants as much as the first one.
// Must not know: where a copy takes its addresses.
#include "black_box.hpp"

#include <dlfcn.h>
#include <array>
#include <vector>

namespace {

constexpr std::size_t kBlocks = 300'000;
constexpr std::size_t kSize = 1000;

struct Copy {
    void *(*allocate)(std::size_t) = std::malloc;
    void (*release)(void *) = std::free;
    std::vector<void *> blocks;
};

void open_in_namespace(const char *library, Copy &copy) {
    void *const handle = dlmopen(LM_ID_NEWLM, library, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) gr::black_box::leave(1, "dlmopen: %s\n", dlerror());
    copy.allocate = reinterpret_cast<void *(*)(std::size_t)>(dlsym(handle, "malloc"));
    copy.release = reinterpret_cast<void (*)(void *)>(dlsym(handle, "free"));
    GR_REQUIRE(copy.allocate != nullptr && copy.allocate != std::malloc && copy.release != nullptr);
}

}  // namespace

int main(int argc, char **argv) {
    gr::black_box::require_granary();
    GR_REQUIRE(argc == 2);
    std::array<Copy, 3> copies;
    for (std::size_t i = 1; i < copies.size(); ++i) open_in_namespace(argv[1], copies[i]);
    for (Copy &copy : copies) copy.blocks.reserve(kBlocks);
    for (std::size_t i = 0; i < kBlocks; ++i) {
        for (Copy &copy : copies) {
            void *const block = copy.allocate(kSize);
            GR_REQUIRE(block != nullptr);
            *static_cast<const void **>(block) = &copy;
            copy.blocks.push_back(block);
        }
    }
    for (Copy &copy : copies) {
        for (void *const block : copy.blocks) {
            GR_REQUIRE(*static_cast<const void **>(block) == &copy);
            copy.release(block);
        }
    }
    gr::black_box::require_sound_heap();
    return 0;
}
