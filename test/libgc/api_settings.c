/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: every pair that sets and gets, the defaults, and the variables behind them.
 * Invariant: what was set is got, and variable and functions are one thing.
 * Must not know: what a setting does.
 */
#define GC_THREADS
#include <gc.h>
#include <gc/gc_mark.h>

#include "check.h"

#define IS_DEFAULT(name, value) CHECK(GC_get_##name() == (value), #name " is %ld by default", (long)GC_get_##name())
#define PAIR(name, value)                                                     \
    do {                                                                      \
        GC_set_##name(value);                                                 \
        CHECK(GC_get_##name() == (value), #name " was set but did not stay"); \
    } while (0)
#define VARIABLE(name, value)                                                           \
    do {                                                                                \
        CHECK(GC_##name == GC_get_##name(), "variable and function differ: GC_" #name); \
        PAIR(name, value);                                                              \
        CHECK(GC_##name == (value), "GC_set_" #name " did not change the variable");    \
    } while (0)

static void resized(GC_word size) { (void)size; }
static void warned(char *format, GC_word word) { (void)format, (void)word; }
static void aborted(const char *message) { (void)message; }
static void started(void) {}
static void happened(GC_EventType event) { (void)event; }
static void thread_happened(GC_EventType event, void *thread) { (void)event, (void)thread; }

/* GC_INIT's macros work before GC_init. */
static void before_init(void) {
    IS_DEFAULT(dont_precollect, 0);
    IS_DEFAULT(find_leak, 0);
    IS_DEFAULT(pages_executable, 0);
    IS_DEFAULT(all_interior_pointers, 1);
    VARIABLE(dont_precollect, 1);
    PAIR(dont_precollect, 0);
    VARIABLE(finalize_on_demand, 1);
    PAIR(finalize_on_demand, 0);
    VARIABLE(java_finalization, 0);
    PAIR(java_finalization, 1);
    PAIR(pages_executable, 1);
    PAIR(pages_executable, 0);
    CHECK(!GC_is_init_called(), "initialized before GC_init");
}

int main(void) {
    before_init();
    GC_INIT();
    CHECK(GC_is_init_called(), "not initialized after GC_init");
    GC_init(); /* again: nothing */

    IS_DEFAULT(free_space_divisor, 3);
    VARIABLE(free_space_divisor, 7);
    IS_DEFAULT(full_freq, 19);
    VARIABLE(full_freq, 4);
    IS_DEFAULT(time_limit, 999999);
    VARIABLE(time_limit, 50);
    IS_DEFAULT(max_retries, 0);
    VARIABLE(max_retries, 3);
    IS_DEFAULT(dont_expand, 0);
    VARIABLE(dont_expand, 1);
    PAIR(dont_expand, 0);
    IS_DEFAULT(no_dls, 0);
    VARIABLE(no_dls, 1);
    PAIR(no_dls, 0);
    VARIABLE(non_gc_bytes, 1000000);
    VARIABLE(on_heap_resize, resized);
    PAIR(on_heap_resize, NULL);
    VARIABLE(oom_fn, GC_get_oom_fn());
    IS_DEFAULT(min_bytes_allocd, 1);
    PAIR(min_bytes_allocd, 4096);
    IS_DEFAULT(allocd_bytes_per_finalizer, 10000);
    PAIR(allocd_bytes_per_finalizer, 20000);
    IS_DEFAULT(rate, 10);
    PAIR(rate, 20);
    IS_DEFAULT(max_prior_attempts, 1);
    PAIR(max_prior_attempts, 2);
    IS_DEFAULT(force_unmap_on_gcollect, 0);
    PAIR(force_unmap_on_gcollect, 1);
    IS_DEFAULT(disable_automatic_collection, 0);
    IS_DEFAULT(manual_vdb_allowed, 0);
    CHECK(GC_get_warn_proc() != NULL && GC_get_abort_func() != NULL, "no warning or abort function by default");
    PAIR(warn_proc, warned);
    PAIR(warn_proc, GC_ignore_warn_proc);
    GC_abort_func abort_before = GC_get_abort_func();
    PAIR(abort_func, aborted);
    PAIR(abort_func, abort_before);
    CHECK(GC_get_start_callback() == NULL && GC_get_on_collection_event() == NULL && GC_get_on_thread_event() == NULL,
          "callbacks by default");
    PAIR(start_callback, started);
    PAIR(start_callback, NULL);
    PAIR(on_collection_event, happened);
    PAIR(on_collection_event, NULL);
    PAIR(on_thread_event, thread_happened);
    PAIR(on_thread_event, NULL);
    CHECK(GC_get_push_other_roots() != NULL, "no roots callback by default");

    struct GC_timeval_s limit = {70, 5000};
    GC_set_time_limit_tv(limit);
    struct GC_timeval_s got = GC_get_time_limit_tv();
    CHECK(got.tv_ms == 70 && got.tv_nsec == 5000, "time limit of 70 ms and 5000 ns is %lu and %lu", got.tv_ms,
          got.tv_nsec);
    CHECK(GC_get_time_limit() == 70, "GC_get_time_limit after setting both");

    /* Incremental collection may be refused, but never asked about wrongly. */
    CHECK(GC_is_incremental_mode() == 0, "incremental without being asked");
    CHECK(GC_get_suspend_signal() > 0 && GC_get_thr_restart_signal() > 0, "no signals");
    CHECK(GC_get_suspend_signal() < 65 && GC_get_thr_restart_signal() < 65, "impossible signals");
    struct GC_stack_base base;
    CHECK(GC_get_stack_base(&base) == GC_SUCCESS && (char *)base.mem_base > (char *)&base, "the stack's base");
    CHECK(GC_least_plausible_heap_addr < GC_greatest_plausible_heap_addr, "no plausible addresses");

    GC_set_all_interior_pointers(0);
    CHECK(GC_get_all_interior_pointers() == 0 && GC_all_interior_pointers == 0, "interior pointers are not off");
    GC_set_all_interior_pointers(1);
    CHECK(GC_get_all_interior_pointers() == 1 && GC_all_interior_pointers == 1, "interior pointers are not on");
    return 0;
}
