// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the variables that libgc.so.1 exports, and the types that its functions share.
// Invariant: clients read and write the variables directly and at any time, perhaps in their own copies. So the library
//    finds each by the global offset table and reads it where it matters, by now().
// Must not know: what the values change.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "granary/granary.h"

extern "C" {

using GC_word = unsigned long;
using GC_finalization_proc = void (*)(void *object, void *client_data);
using GC_oom_func = void *(*)(std::size_t size);
using GC_warn_proc = void (*)(char *format, GC_word argument);
using GC_abort_func = void (*)(const char *message);
using GC_push_other_roots_proc = void (*)();
using GC_on_heap_resize_proc = void (*)(GC_word bytes);
using GC_finalizer_notifier_proc = void (*)();

GR_EXPORT extern int GC_all_interior_pointers;
GR_EXPORT extern int GC_dont_expand;
GR_EXPORT extern int GC_dont_gc;
GR_EXPORT extern int GC_dont_precollect;
GR_EXPORT extern int GC_finalize_on_demand;
GR_EXPORT extern int GC_find_leak;
GR_EXPORT extern int GC_full_freq;
GR_EXPORT extern int GC_gcj_debug_kind;
GR_EXPORT extern int GC_gcj_kind;
GR_EXPORT extern int GC_java_finalization;
GR_EXPORT extern int GC_no_dls;
GR_EXPORT extern int GC_parallel;
GR_EXPORT extern int GC_use_entire_heap;

GR_EXPORT extern GC_word GC_free_space_divisor;
GR_EXPORT extern GC_word GC_gc_no;
GR_EXPORT extern GC_word GC_max_retries;
GR_EXPORT extern GC_word GC_non_gc_bytes;
GR_EXPORT extern unsigned long GC_time_limit;

GR_EXPORT extern void *GC_greatest_plausible_heap_addr;
GR_EXPORT extern void *GC_least_plausible_heap_addr;
GR_EXPORT extern char *GC_stackbottom;

GR_EXPORT extern GC_finalizer_notifier_proc GC_finalizer_notifier;
GR_EXPORT extern void (*GC_is_valid_displacement_print_proc)(void *p);
GR_EXPORT extern void (*GC_is_visible_print_proc)(void *p);
GR_EXPORT extern GC_abort_func GC_on_abort;
GR_EXPORT extern GC_on_heap_resize_proc GC_on_heap_resize;
GR_EXPORT extern GC_oom_func GC_oom_fn;
GR_EXPORT extern GC_push_other_roots_proc GC_push_other_roots;
GR_EXPORT extern void (*GC_same_obj_print_proc)(void *p, void *q);

GR_EXPORT extern const std::size_t GC_debug_header_size;
GR_EXPORT extern void **const GC_objfreelist_ptr;
GR_EXPORT extern void **const GC_aobjfreelist_ptr;
GR_EXPORT extern void **const GC_uobjfreelist_ptr;
GR_EXPORT extern void **const GC_auobjfreelist_ptr;
GR_EXPORT extern char GC_arrays[182768];

}  // extern "C"

namespace gr {

// A client may be writing the variable at this moment.
template <class T>
T now(T &variable) {
    return std::atomic_ref<T>(variable).load(std::memory_order_relaxed);
}
template <class T>
void store(T &variable, T value) {
    std::atomic_ref<T>(variable).store(value, std::memory_order_relaxed);
}

}  // namespace gr
