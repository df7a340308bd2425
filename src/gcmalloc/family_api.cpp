// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the malloc family under libc's names and under Granary's. Each call goes through the face.
// Invariant: a function does what malloc's own function does, and what the face adds.
// Must not know: what the face adds.
#include <malloc.h>
#include <stdlib.h>

#include <cstring>

#include "gcmalloc/face.hpp"
#include "malloc/c_api.hpp"
#include "platform/libc_rules.hpp"

namespace {

using gr::face;

void *moved(const char *function, void *p, std::size_t alignment, std::size_t size);

struct Family {
    static void *allocate(std::size_t size) {
        return face.serve([=] { return gr_under_malloc(face.padded(size)); });
    }
    static void *allocate_zeroed(std::size_t count, std::size_t size) {
        return face.serve([=] { return gr_under_calloc(1, face.padded(gr::array_bytes(count, size))); });
    }
    static void *allocate_aligned(std::size_t alignment, std::size_t size) {
        return face.serve([=] { return gr_under_memalign(alignment, face.padded(size)); });
    }
    static int allocate_aligned_into(void **out, std::size_t alignment, std::size_t size) {
        int error = 0;
        const auto ask = [&] {
            void *p = nullptr;
            error = gr_under_posix_memalign(&p, alignment, face.padded(size));
            return p;
        };
        void *const p = face.serve(ask);
        if (error == 0) *out = p;
        return error;
    }
    static void *allocate_page_aligned(std::size_t size) {
        return face.serve([=] { return gr_under_valloc(face.padded(size)); });
    }
    static void *allocate_pages(std::size_t size) {
        return face.serve([=] { return gr_under_pvalloc(face.padded(size)); });
    }
    static void *resize(void *p, std::size_t size) {
        const auto resize = [=] {
            if (!face.frees()) return moved("realloc", p, 1, size);
            return face.serve([=] { return gr_under_realloc(p, face.padded(size)); });
        };
        return gr::reallocate(
            p, size, [=] { return allocate(size); }, [=] { free(p); }, resize);
    }
    static void free(void *p) { face.release(p); }
};

// The old block is released as a freed block is.
void *moved(const char *function, void *p, std::size_t alignment, std::size_t size) {
    face.require_in_use(function, p);
    const std::size_t old_size = gr::instance.usable_size(function, p);
    const bool may_stay = face.padded(size) <= old_size && reinterpret_cast<std::uintptr_t>(p) % alignment == 0;
    if (may_stay && size * 2 > old_size) return p;
    void *const to = alignment == 1 ? Family::allocate(size) : Family::allocate_aligned(alignment, size);
    if (to == nullptr) return may_stay ? p : nullptr;
    std::memcpy(to, p, size < old_size ? size : old_size);
    face.release(p);
    return to;
}

}  // namespace

#include "platform/family_names.inc"

extern "C" {

void *gr_malloc(std::size_t size) { return Family::allocate(size); }
void *gr_calloc(std::size_t count, std::size_t size) { return Family::allocate_zeroed(count, size); }
void *gr_realloc(void *p, std::size_t size) { return Family::resize(p, size); }
void *gr_reallocarray(void *p, std::size_t count, std::size_t size) { return reallocarray(p, count, size); }
void *gr_aligned_alloc(std::size_t alignment, std::size_t size) { return Family::allocate_aligned(alignment, size); }
int gr_posix_memalign(void **out, std::size_t alignment, std::size_t size) {
    return Family::allocate_aligned_into(out, alignment, size);
}
void gr_free(void *p) { Family::free(p); }
void gr_free_sized(void *p, std::size_t) { Family::free(p); }
void gr_free_aligned_sized(void *p, std::size_t, std::size_t) { Family::free(p); }

void *gr_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size) {
    if (!gr::is_alignment(alignment)) return nullptr;
    return face.serve([=] { return gr_under_aligned_calloc(alignment, 1, face.padded(gr::array_bytes(count, size))); });
}

void *gr_aligned_realloc(void *p, std::size_t alignment, std::size_t size) {
    if (!gr::is_alignment(alignment)) return nullptr;
    const auto resize = [=] {
        if (!face.frees()) return moved("gr_aligned_realloc", p, alignment, size);
        return face.serve([=] { return gr_under_aligned_realloc(p, alignment, face.padded(size)); });
    };
    return gr::reallocate(
        p, size, [=] { return Family::allocate_aligned(alignment, size); }, [=] { Family::free(p); }, resize);
}

// If blocks are not freed at once, they are not resized in place either: the part that is cut off would be free at once.
std::size_t gr_resize_in_place(void *p, std::size_t least, std::size_t wanted) {
    constexpr const char *kFunction = "gr_resize_in_place";
    if (p == nullptr) return 0;
    const std::size_t padding = face.padded(0);
    if (face.frees()) {
        const std::size_t size = gr_under_resize_in_place(p, face.padded(least), face.padded(wanted));
        return size == 0 ? 0 : size - padding;
    }
    face.require_in_use(kFunction, p);
    const std::size_t size = gr::instance.usable_size(kFunction, p) - padding;
    return size < least ? 0 : size;
}

}  // extern "C"
