/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: the libc family under names of Granary's own, blocks that keep an alignment, and blocks that are resized where
 *    they lie. libgranary-prefixed has these names and overrides nothing. In libgranary gr_malloc is malloc, gr_free is
 *    free, and so on.
 * Invariant: as in granary.h: any thread may call any function at any time, also before main and in the child after fork.
 *    Sizes and alignments are bytes. A function that returns NULL for want of what it was asked for sets errno; no function
 *    changes errno otherwise.
 * Must not know: how the allocator works inside.
 */
#ifndef GRANARY_MALLOC_H
#define GRANARY_MALLOC_H

#include "granary/granary.h"

/* What compilers may know. GR_BLOCK: returns a new block that gr_free releases; the parameters with these numbers,
 * multiplied, are its bytes. GR_RESIZED: returns a block that may be the old one. GR_ALIGNED: which parameter is the
 * alignment. GR_NONNULL: which parameter is never NULL. */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 11
#define GR_BLOCK(...) __attribute__((malloc, malloc(gr_free, 1), nothrow, alloc_size(__VA_ARGS__)))
#define GR_RESIZED(...) __attribute__((malloc(gr_free, 1), nothrow, alloc_size(__VA_ARGS__)))
#define GR_ALIGNED(which) __attribute__((alloc_align(which)))
#define GR_NOTHROW __attribute__((nothrow))
#define GR_NONNULL(which) __attribute__((nonnull(which)))
#elif defined(__GNUC__)
#define GR_BLOCK(...) __attribute__((malloc, alloc_size(__VA_ARGS__)))
#define GR_RESIZED(...) __attribute__((alloc_size(__VA_ARGS__)))
#define GR_ALIGNED(which) __attribute__((alloc_align(which)))
#define GR_NOTHROW /* clang takes it for an exception specification, which every declaration would have to repeat */
#define GR_NONNULL(which) __attribute__((nonnull(which)))
#else
#define GR_BLOCK(...)
#define GR_RESIZED(...)
#define GR_ALIGNED(which)
#define GR_NOTHROW
#define GR_NONNULL(which)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Releases a block of any function below. NULL is ignored. A block of another allocator, of a first-class heap, or a block
 * that is already free ends the program with a line that says so. In a program that has both libraries of Granary, each
 * library releases its own blocks only. */
GR_EXPORT void gr_free(void *block) GR_NOTHROW;

/* As gr_free; the size and the alignment are those that the program asked for, and are not needed. */
GR_EXPORT void gr_free_sized(void *block, size_t size) GR_NOTHROW;
GR_EXPORT void gr_free_aligned_sized(void *block, size_t alignment, size_t size) GR_NOTHROW;

/* As malloc, calloc, realloc and reallocarray of glibc. Blocks lie at multiples of 16. A size of 0 gives a block of its
 * own. gr_realloc(block, 0) releases the block and returns NULL.
 * Return NULL with errno = ENOMEM if there is no memory, if the size is above PTRDIFF_MAX, and if the product overflows;
 * the old block then stays as it was. */
GR_NODISCARD GR_EXPORT void *gr_malloc(size_t size) GR_BLOCK(1);
GR_NODISCARD GR_EXPORT void *gr_calloc(size_t count, size_t size) GR_BLOCK(1, 2);
GR_NODISCARD GR_EXPORT void *gr_realloc(void *block, size_t size) GR_RESIZED(2);
GR_NODISCARD GR_EXPORT void *gr_reallocarray(void *block, size_t count, size_t size) GR_RESIZED(2, 3);

/* As aligned_alloc of glibc: an alignment that is no power of two is rounded up to one. The size need not be a multiple of
 * the alignment. Returns NULL with errno = ENOMEM, or EINVAL if no power of two is so large. */
GR_NODISCARD GR_EXPORT void *gr_aligned_alloc(size_t alignment, size_t size) GR_BLOCK(2) GR_ALIGNED(1);

/* As posix_memalign: returns 0, or ENOMEM, or EINVAL for an alignment that is no power of two or no multiple of
 * sizeof(void *). *out changes only on success, errno never. */
GR_NODISCARD GR_EXPORT int gr_posix_memalign(void **out, size_t alignment, size_t size) GR_NOTHROW GR_NONNULL(1);

/* The bytes of the block that the program may use, at least those that it asked for. NULL has 0. */
GR_EXPORT size_t gr_malloc_usable_size(void *block) GR_NOTHROW;

/* A block of count * size bytes, all zero, at a multiple of the alignment. Returns NULL with errno = EINVAL if the
 * alignment is no power of two, and ENOMEM if there is no memory or the product overflows. */
GR_NODISCARD GR_EXPORT void *gr_aligned_calloc(size_t alignment, size_t count, size_t size) GR_BLOCK(2, 3)
    GR_ALIGNED(1);

/* As gr_realloc, but the block that is returned lies at a multiple of the alignment, wherever the old block lay. NULL as
 * the old block allocates. A size of 0 releases the block and returns NULL. Returns NULL with errno = EINVAL if the
 * alignment is no power of two, and ENOMEM if there is no memory; the old block then stays as it was. */
GR_NODISCARD GR_EXPORT void *gr_aligned_realloc(void *block, size_t alignment, size_t size) GR_RESIZED(3) GR_ALIGNED(2);

/* Grows or shrinks the block where it lies. The block never moves, and what it holds stays, as far as it remains. The
 * function tries to make the usable size `wanted` bytes. If there is no room for that, it tries `least` bytes. A `wanted`
 * below `least` counts as `least`.
 *
 * Returns the usable size afterwards, which is at least `least`; or 0 if the block cannot have that many bytes without
 * moving: then nothing has changed. 0 for NULL, too. Never changes errno.
 *
 * Blocks of up to 32 KiB have a fixed size, so that the function only tells whether it suffices. Larger blocks grow into
 * free memory behind them, by steps of 64 KiB, or of a page if they are mapped directly from the kernel; what they shrink
 * by is free at once. */
GR_EXPORT size_t gr_resize_in_place(void *block, size_t least, size_t wanted) GR_NOTHROW;

#ifdef __cplusplus
}
#endif

#endif
