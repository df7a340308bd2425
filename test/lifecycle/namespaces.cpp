// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that opens the library again in namespaces of their own (dlmopen) and allocates from each copy in turn.
// Invariant: each copy grants as much as the first one. Hardly any block is touched, so little memory is used.
// Must not know: where a copy takes its addresses.
#include "black_box.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <array>
#include <vector>

namespace {

constexpr std::size_t kBlocks = 1'000'000;
constexpr std::size_t kSize = 1000;

struct Copy {
    void *(*allocate)(std::size_t) = std::malloc;
    void (*release)(void *) = std::free;
    std::vector<void *> blocks;
};

char *map_nothing(std::size_t bytes) {
    void *const mapped = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    GR_REQUIRE(mapped != MAP_FAILED);
    return static_cast<char *>(mapped);
}

// Moves the place where the kernel puts mappings down, as a program's own mappings do: fills every gap above it.
void move_mappings_down() {
    constexpr std::size_t kFirst = std::size_t{200} << 20;
    const char *const low = map_nothing(kFirst);
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    for (std::size_t bytes = kFirst; bytes >= page; bytes = bytes / 2 / page * page) {
        while (map_nothing(bytes) > low) {
        }
    }
}

void open_in_namespace(const char *library, Copy &copy) {
    move_mappings_down();
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
            copy.blocks.push_back(block);
        }
    }
    for (Copy &copy : copies) {
        for (void *const block : copy.blocks) copy.release(block);
    }
    gr::black_box::require_sound_heap();
    return 0;
}
