// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's incremental collection, which there is none of: each collection is a whole one.
// Invariant: nobody is told otherwise.
// Must not know: how it is collected.
#include "libgc/allocation.hpp"
#include "libgc/functions.hpp"

extern "C" {

GR_EXPORT void GC_enable_incremental() { gr::ensure_initialised(); }
GR_EXPORT int GC_is_incremental_mode() { return 0; }
GR_EXPORT int GC_incremental_protection_needs() { return 0; }
GR_EXPORT void GC_start_incremental_collection() {}

// One when it is due, and nothing is under way afterwards.
GR_EXPORT int GC_collect_a_little() {
    gr::ensure_initialised();
    const gr::Pace &pace = gr::collector.pace();
    if (pace.automatic.load(std::memory_order_relaxed) && pace.is_due(gr::collector.used_bytes())) GC_gcollect();
    return 0;
}

// Nobody watches what is written.
GR_EXPORT void GC_end_stubborn_change(const void *) {}
GR_EXPORT void GC_change_stubborn(const void *) {}
GR_EXPORT void GC_ptr_store_and_dirty(void *p, const void *q) { *static_cast<const void **>(p) = q; }

}  // extern "C"
