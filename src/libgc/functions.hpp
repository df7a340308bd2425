// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of libgc.so.1 that other functions of the library call by name.
// Invariant: the declarations are those of gc.h of Debian 12.
// Must not know: what the functions do.
#pragma once

#include "libgc/variables.hpp"

extern "C" {

struct GC_stack_base {
    void *mem_base;
};

GR_EXPORT void GC_init();
GR_EXPORT void GC_gcollect();
GR_EXPORT int GC_try_to_collect(int (*stop)());
GR_EXPORT void GC_disable();
GR_EXPORT void GC_enable();
GR_EXPORT void *GC_malloc(std::size_t size);
GR_EXPORT void *GC_realloc(void *p, std::size_t size);
GR_EXPORT char *GC_debug_strndup(const char *text, std::size_t most, const char *file, int line);
GR_EXPORT void *GC_is_visible(void *p);
GR_EXPORT void *GC_is_valid_displacement(void *p);
GR_EXPORT void *GC_same_obj(void *p, void *q);
GR_EXPORT void *GC_gcj_malloc(std::size_t size, void *type);
GR_EXPORT void GC_dump_named(const char *name);

}  // extern "C"
