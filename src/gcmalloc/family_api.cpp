// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the allocation family, under libc's names and under Granary's, each by way of the face.
// Invariant: what a name does is what malloc's own does, and what the face adds.
// Must not know: what the face adds.
#include <malloc.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>

#include "gcmalloc/face.hpp"
#include "malloc/c_api.hpp"
#include "malloc/requests.hpp"

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
void *moved(const char *function, void *p, std::size_t alignment, std::size_t size) {
    face.require_in_use(function, p);
    const std::size_t old_size = gr::instance.usable_size(function, p);
    const bool may_stay = size <= old_size && reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
    if (may_stay && size * 2 > old_size) return p;
    void *const to = alignment == 1 ? allocated(size) : aligned(alignment, size);
    if (to == nullptr) return may_stay ? p : nullptr;
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
    if (!face.frees()) return moved("realloc", p, 1, size);
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

extern "C" {

void *gr_malloc(std::size_t size) { return allocated(size); }
void *gr_calloc(std::size_t count, std::size_t size) { return zeroed(count, size); }
void *gr_realloc(void *p, std::size_t size) { return resized(p, size); }
void *gr_reallocarray(void *p, std::size_t count, std::size_t size) { return reallocarray(p, count, size); }
void *gr_aligned_alloc(std::size_t alignment, std::size_t size) { return aligned(alignment, size); }
int gr_posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    return aligned_into(out, alignment, size);
}
void gr_free(void *p) { release(p); }
void gr_free_sized(void *p, std::size_t) { release(p); }
void gr_free_aligned_sized(void *p, std::size_t, std::size_t) { release(p); }

void *gr_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size) {
    if (!gr::is_alignment(alignment)) return nullptr;
    return face.serve([=] { return gr_under_aligned_calloc(alignment, count, size); });
}

void *gr_aligned_realloc(void *p, std::size_t alignment, std::size_t size) {
    if (!gr::is_alignment(alignment)) return nullptr;
    if (p == nullptr) return aligned(alignment, size);
    if (size == 0) {
        face.release(p);
        return nullptr;
    }
    if (!face.frees()) return moved("gr_aligned_realloc", p, alignment, size);
    return face.serve([=] { return gr_under_aligned_realloc(p, alignment, size); });
}

// Where blocks are not freed at once they are not resized either: what a block no longer has would be free at once.
std::size_t gr_resize_in_place(void *p, std::size_t least, std::size_t wanted) {
    constexpr const char *kFunction = "gr_resize_in_place";
    if (p == nullptr) return 0;
    if (face.frees()) return gr_under_resize_in_place(p, least, wanted);
    face.require_in_use(kFunction, p);
    const std::size_t size = gr::instance.usable_size(kFunction, p);
    return size < least ? 0 : size;
}

}  // extern "C"
