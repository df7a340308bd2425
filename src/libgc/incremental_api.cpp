// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: incremental.hpp, and the functions of gc.h for the incremental mode.
// Invariant: a collection runs in the collector's own thread; a client only starts it and waits for it.
// Must not know: how objects are collected.
#include "libgc/incremental.hpp"

#include <algorithm>

#include "libgc/allocation.hpp"
#include "libgc/functions.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"
#include "libgc/settings.hpp"

namespace gr {

void begin_incremental() {
    static constinit bool has_tried = false;
    if (has_tried || settings.forbids_incremental || now(GC_find_leak) != 0) return;
    has_tried = true;
    const char *const lack = collector.enable_incremental();
    if (lack == nullptr) return;
    warn("GC Warning: No incremental collection; each collection stops the program: %s\n",
         reinterpret_cast<GC_word>(lack));
}

void begin_generational() {
    if (now(GC_find_leak) != 0) return;
    const char *const lack = collector.enable_generations();
    if (lack == nullptr) return;
    warn("GC Warning: No generations; each collection is of all objects: %s\n", reinterpret_cast<GC_word>(lack));
}

}  // namespace gr

namespace {

constexpr unsigned long kMostWait = 50;  // milliseconds, unless the client sets less

}  // namespace

extern "C" {

GR_EXPORT void GC_enable_incremental() {
    gr::ensure_initialised();
    const gr::Locked locked;
    gr::begin_incremental();
}
GR_EXPORT int GC_is_incremental_mode() { return gr::collector.is_incremental() ? 1 : 0; }
// The protection of pages is invisible, to system calls as well as to the program.
GR_EXPORT int GC_incremental_protection_needs() { return 0; }
GR_EXPORT void GC_start_incremental_collection() { gr::collector.request_incremental(); }

// The collector's thread does the work. The caller waits for a moment and learns whether the collection still runs.
GR_EXPORT int GC_collect_a_little() {
    gr::ensure_initialised();
    if (!gr::collector.is_incremental()) {
        gr::collector.collect_if_due();
        return 0;
    }
    const gr::Pace &pace = gr::collector.pace();
    if (pace.automatic.load(std::memory_order_relaxed) && gr::collector.is_due()) gr::collector.request_incremental();
    gr::collector.wait_for_incremental(static_cast<unsigned>(std::min(kMostWait, gr::now(GC_time_limit))));
    return gr::collector.is_incremental_under_way() ? 1 : 0;
}

// Does nothing: the kernel reports which pages are written.
GR_EXPORT void GC_end_stubborn_change(const void *) {}
GR_EXPORT void GC_change_stubborn(const void *) {}
GR_EXPORT void GC_ptr_store_and_dirty(void *p, const void *q) { *static_cast<const void **>(p) = q; }

}  // extern "C"
