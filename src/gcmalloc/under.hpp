// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: malloc's own family, under the names that the build gives it where the face has malloc's names.
// Invariant: the functions do what those of libgranary.so do, and do not know the face.
// Must not know: why they are called.
#pragma once

#include <cstddef>

extern "C" {
void *gr_under_malloc(std::size_t size);
void *gr_under_calloc(std::size_t count, std::size_t size);
void *gr_under_realloc(void *p, std::size_t size);
void *gr_under_memalign(std::size_t alignment, std::size_t size);
int gr_under_posix_memalign(void **out, std::size_t alignment, std::size_t size);
void *gr_under_valloc(std::size_t size);
void *gr_under_pvalloc(std::size_t size);
void gr_under_free(void *p);
void *gr_under_aligned_calloc(std::size_t alignment, std::size_t count, std::size_t size);
void *gr_under_aligned_realloc(void *p, std::size_t alignment, std::size_t size);
std::size_t gr_under_resize_in_place(void *p, std::size_t least, std::size_t wanted);
}
