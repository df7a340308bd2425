// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: loads a shown library.
// Invariant: its names stay its own: the stage and libc go on with the malloc that they have.
// Must not know: scripts.
#include "stage/shown_library.hpp"

#include <dlfcn.h>

namespace gr::lab::stage {

std::variant<ShownLibrary, std::string> ShownLibrary::load(const char *path) {
    void *const handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return std::string(dlerror());  // NOLINT(concurrency-mt-unsafe): of the calling thread
    ShownLibrary library{};
    library.show = static_cast<const show::StageFunctions *>(dlsym(handle, show::kStageFunctions));
    library.allocate = reinterpret_cast<decltype(library.allocate)>(dlsym(handle, "malloc"));
    library.allocate_zeroed = reinterpret_cast<decltype(library.allocate_zeroed)>(dlsym(handle, "calloc"));
    library.reallocate = reinterpret_cast<decltype(library.reallocate)>(dlsym(handle, "realloc"));
    library.release = reinterpret_cast<decltype(library.release)>(dlsym(handle, "free"));
    if (library.show == nullptr) return std::string(path) + " is no shown library: it is in build/release/lab/shown";
    if (library.show->chosen->refusal != nullptr)
        return std::string(library.show->chosen->name) + ": " + library.show->chosen->refusal;
    return library;
}

}  // namespace gr::lab::stage
