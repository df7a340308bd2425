// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: held.hpp, by the entry points that each allocator has for it; the loader tells which of them are there.
// Invariant: empty memory that was not given back counts as held; an allocator's own tables do not, where it tells them
//    apart (Hoard 5.4: without headers).
// Must not know: what was requested.
#include "held.hpp"

#include <dlfcn.h>
#include <malloc.h>
#include <cstdint>

#include "granary/granary.h"

extern "C" {
[[gnu::weak]] decltype(gr_statistics_get) gr_statistics_get;
[[gnu::weak]] int mallctl(const char *name, void *old, std::size_t *old_size, void *fresh, std::size_t size);
[[gnu::weak]] bool MallocExtension_Internal_GetNumericProperty(const char *name, std::size_t length,
                                                               std::size_t *value);
}

namespace gr::bench {
namespace {

// Keeps its peaks itself. Where both are not nothing their sum may be more than was ever held at once.
std::size_t granary() {
    gr_statistics statistics{};
    statistics.size = sizeof statistics;
    return gr_statistics_get(&statistics) == 0 ? statistics.peak_heap_bytes + statistics.peak_direct_bytes : 0;
}

std::size_t of_jemalloc(const char *name) {
    std::size_t value = 0;
    std::size_t size = sizeof value;
    return mallctl(name, &value, &size, nullptr, 0) == 0 ? value : 0;
}

std::size_t jemalloc() {
    std::uint64_t epoch = 1;  // counts anew
    if (mallctl("epoch", nullptr, nullptr, &epoch, sizeof epoch) != 0) return 0;
    return of_jemalloc("stats.resident") - of_jemalloc("stats.metadata");
}

std::size_t tcmalloc() {
    constexpr char kName[] = "generic.heap_size";
    std::size_t value = 0;
    return MallocExtension_Internal_GetNumericProperty(kName, sizeof kName - 1, &value) ? value : 0;
}

std::size_t libc() {
    const struct mallinfo2 info = mallinfo2();
    return info.arena + info.hblkhd;
}

bool same_library(void *one, void *other) {
    Dl_info first{};
    Dl_info second{};
    return dladdr(one, &first) != 0 && dladdr(other, &second) != 0 && first.dli_fbase == second.dli_fbase;
}

}  // namespace

Asked who_tells_what_is_held(void *serving) {
    if (gr_statistics_get != nullptr) return {"peak_heap_bytes + peak_direct_bytes", granary};
    if (mallctl != nullptr) return {"stats.resident - stats.metadata", jemalloc};
    if (MallocExtension_Internal_GetNumericProperty != nullptr) return {"generic.heap_size", tcmalloc};
    if (same_library(serving, reinterpret_cast<void *>(mallinfo2))) return {"mallinfo2: arena + hblkhd", libc};
    return {};
}

}  // namespace gr::bench
