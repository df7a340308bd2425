// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program on libc's malloc that opens the library late, uses it, closes it and uses it again.
// Invariant: both heaps work side by side; closing does not unload; each block goes back to where it came from.
// Must not know: how the library keeps itself loaded. Not preloaded: the library's path is the first argument.
#include "black_box.hpp"

#include <dlfcn.h>
#include <thread>

namespace {

struct Heap {
    void *(*allocate)(std::size_t);
    void (*release)(void *);
    int (*owns)(const void *);
};

void use(const Heap &heap) {
    for (std::size_t size :
         {std::size_t{1}, std::size_t{500}, std::size_t{30000}, std::size_t{1} << 20, std::size_t{40} << 20}) {
        void *ours = heap.allocate(size);
        void *libcs = gr::black_box::opaque(std::malloc(size));
        GR_REQUIRE(ours != nullptr && libcs != nullptr);
        std::memset(ours, 1, size);
        std::memset(libcs, 2, size);
        GR_REQUIRE(heap.owns(ours) == 1);
        GR_REQUIRE(heap.owns(libcs) == 0);
        std::free(libcs);
        heap.release(ours);
    }
}

template <typename Function>
Function *entry(void *library, const char *name) {
    void *found = dlsym(library, name);
    GR_REQUIRE(found != nullptr);
    return reinterpret_cast<Function *>(found);
}

}  // namespace

int main(int argc, char **argv) {
    GR_REQUIRE(argc == 2);
    GR_REQUIRE(!gr::black_box::granary_in_use());
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
        gr::black_box::leave(1, "dlopen: %s\n", dlerror());
    }
    GR_REQUIRE(entry<uint32_t()>(library, "gr_version")() == GR_VERSION);
    const Heap heap{entry<void *(std::size_t)>(library, "malloc"), entry<void(void *)>(library, "free"),
                    entry<int(const void *)>(library, "gr_owns")};
    GR_REQUIRE(reinterpret_cast<void *>(heap.allocate) != dlsym(RTLD_DEFAULT, "malloc"));
    use(heap);
    void *kept = heap.allocate(1000);
    std::memset(kept, 7, 1000);
    GR_REQUIRE(dlclose(library) == 0);
    use(heap);
    std::thread([&heap] { use(heap); }).join();
    GR_REQUIRE(static_cast<char *>(kept)[999] == 7);
    heap.release(kept);
    library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    GR_REQUIRE(library != nullptr && dlsym(library, "malloc") == reinterpret_cast<void *>(heap.allocate));
    return 0;
}
