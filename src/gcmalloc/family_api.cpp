// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libc's allocation family, each name by way of the face.
// Invariant: what a name does is what malloc's own does, and what the face adds.
// Must not know: what the face adds.
#include <malloc.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "gcmalloc/face.hpp"
#include "malloc/c_api.hpp"
#include "malloc/instance.hpp"

namespace {

using gr::face;

void *allocated(std::size_t size) {
    return face.serve([=] { return gr_under_malloc(size); });
}

void *zeroed(std::size_t count, std::size_t size) {
    return face.serve([=] { return gr_under_calloc(count, size); });
}

void *aligned(std::size_t alignment, std::size_t size) {
    return face.serve([=] { return gr_under_memalign(alignment, size); });
}

int aligned_into(void **out, std::size_t alignment, std::size_t size) {
    int error = 0;
    const auto ask = [&] {
        void *p = nullptr;
        error = gr_under_posix_memalign(&p, alignment, size);
        return p;
    };
    void *const p = face.serve(ask);
    if (error == 0) *out = p;
    return error;
}

// The old block goes as what is freed does.
void *moved(void *p, std::size_t size) {
    face.require_in_use("realloc", p);
    const std::size_t old_size = gr::instance.usable_size("realloc", p);
    if (size <= old_size && size * 2 > old_size) return p;
    void *const to = allocated(size);
    if (to == nullptr) return size <= old_size ? p : nullptr;
    std::memcpy(to, p, size < old_size ? size : old_size);
    face.release(p);
    return to;
}

void *resized(void *p, std::size_t size) {
    if (p == nullptr) return allocated(size);
    if (size == 0) {
        face.release(p);
        return nullptr;
    }
    if (!face.frees()) return moved(p, size);
    return face.serve([=] { return gr_under_realloc(p, size); });
}

void *of_pages(std::size_t size) {
    return face.serve([=] { return gr_under_valloc(size); });
}

void *of_whole_pages(std::size_t size) {
    return face.serve([=] { return gr_under_pvalloc(size); });
}

void release(void *p) { face.release(p); }

}  // namespace

#include "platform/family_names.inc"
