// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: loads twenty libraries that use up static thread-local storage, then Granary.
// Invariant: Granary still loads and works.
// Must not know: how much thread-local storage Granary takes. Not preloaded: arguments are both libraries' paths.
#include "black_box.hpp"

#include <dlfcn.h>
#include <filesystem>
#include <string>

namespace {

constexpr int kLibraries = 20;

// The loader knows a file by its inode, so each copy counts as a library of its own.
void load_copies(const std::string &library, const std::filesystem::path &folder) {
    for (int i = 0; i < kLibraries; ++i) {
        const std::filesystem::path copy = folder / ("tls" + std::to_string(i) + ".so");
        std::filesystem::copy_file(library, copy);
        void *handle = dlopen(copy.c_str(), RTLD_NOW);
        GR_REQUIRE(handle != nullptr);
        auto *storage = reinterpret_cast<char *(*)()>(dlsym(handle, "static_tls_storage"));
        GR_REQUIRE(storage != nullptr && storage()[0] == 1);
    }
}

}  // namespace

int main(int argc, char **argv) {
    GR_REQUIRE(argc == 3);
    std::string folder = (std::filesystem::temp_directory_path() / "granary_static_tls.XXXXXX").string();
    GR_REQUIRE(mkdtemp(folder.data()) != nullptr);
    load_copies(argv[2], folder);
    std::filesystem::remove_all(folder);
    void *granary = dlopen(argv[1], RTLD_NOW);
    if (granary == nullptr) {
        gr::black_box::leave(1, "dlopen: %s\n", dlerror());
    }
    auto *allocate = reinterpret_cast<void *(*)(std::size_t)>(dlsym(granary, "malloc"));
    auto *release = reinterpret_cast<void (*)(void *)>(dlsym(granary, "free"));
    for (std::size_t size = 1; size < 10'000'000; size *= 2) {
        void *block = allocate(size);
        GR_REQUIRE(block != nullptr);
        std::memset(block, 1, size);
        release(block);
    }
    return 0;
}
