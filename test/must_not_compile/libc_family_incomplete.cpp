// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a family without a function for each name of libc's is none.
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "platform/libc_rules.hpp"

struct Family {
    static void *allocate(std::size_t size);
    static void *allocate_zeroed(std::size_t count, std::size_t size);
    static void *resize(void *p, std::size_t size);
    static void *allocate_aligned(std::size_t alignment, std::size_t size);
    static int allocate_aligned_into(void **out, std::size_t alignment, std::size_t size);
    static void *allocate_page_aligned(std::size_t size);
    static void *allocate_pages(std::size_t size);
#ifdef CONTROL
    static void free(void *p);
#else
    static bool free(void *p);
#endif
};
static_assert(gr::LibcFamily<Family>);
