// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the variables of libgc.so.1 with their values before the first call.
// Invariant: their sizes are those with which clients were linked.
// Must not know: what the values change.
#include "libgc/defaults.hpp"
#include "libgc/messages.hpp"
#include "libgc/variables.hpp"

namespace {

constexpr unsigned long kNoTimeLimit = 999999;
// Lists of free objects from which a client might take without a call: they are always empty.
constexpr std::size_t kFreeLists = 129;
void *free_lists[4][kFreeLists];

}  // namespace

extern "C" {

int GC_all_interior_pointers = 1;
int GC_dont_expand = 0;
int GC_dont_gc = 0;
int GC_dont_precollect = 0;
int GC_finalize_on_demand = 0;
int GC_find_leak = 0;
int GC_full_freq = 19;
int GC_gcj_debug_kind = 0;
int GC_gcj_kind = 0;
int GC_java_finalization = 1;
int GC_no_dls = 0;
int GC_parallel = 0;
int GC_use_entire_heap = 0;

GC_word GC_free_space_divisor = 3;
GC_word GC_gc_no = 0;
GC_word GC_max_retries = 0;
GC_word GC_non_gc_bytes = 0;
unsigned long GC_time_limit = kNoTimeLimit;

void *GC_greatest_plausible_heap_addr = nullptr;
void *GC_least_plausible_heap_addr = reinterpret_cast<void *>(UINTPTR_MAX);
char *GC_stackbottom = nullptr;

GC_finalizer_notifier_proc GC_finalizer_notifier = nullptr;
void (*GC_is_valid_displacement_print_proc)(void *) = gr::die_of_displacement;
void (*GC_is_visible_print_proc)(void *) = gr::die_of_invisible;
GC_abort_func GC_on_abort = gr::write_last_words;
GC_on_heap_resize_proc GC_on_heap_resize = nullptr;
GC_oom_func GC_oom_fn = gr::answer_null;
GC_push_other_roots_proc GC_push_other_roots = gr::push_stacks;
void (*GC_same_obj_print_proc)(void *, void *) = gr::die_of_other_object;

const std::size_t GC_debug_header_size = 32;
void **const GC_objfreelist_ptr = &free_lists[0][0];
void **const GC_aobjfreelist_ptr = &free_lists[1][0];
void **const GC_uobjfreelist_ptr = &free_lists[2][0];
void **const GC_auobjfreelist_ptr = &free_lists[3][0];
char GC_arrays[182768];

}  // extern "C"
