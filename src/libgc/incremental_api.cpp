// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: incremental.hpp, and what programs call of it.
// Invariant: as there.
// Must not know: how it is collected.
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
// Pages are protected so that nobody notices, system calls as little as the program.
GR_EXPORT int GC_incremental_protection_needs() { return 0; }
GR_EXPORT void GC_start_incremental_collection() { gr::collector.request_incremental(); }

// Another thread does the work: who asks for a little waits a little, and is told whether there is more.
GR_EXPORT int GC_collect_a_little() {
    gr::ensure_initialised();
    const gr::Pace &pace = gr::collector.pace();
    const bool is_due = pace.automatic.load(std::memory_order_relaxed) && gr::collector.is_due();
    if (!gr::collector.is_incremental()) {
        if (is_due) GC_gcollect();
        return 0;
    }
    if (is_due) gr::collector.request_incremental();
    gr::collector.wait_for_incremental(static_cast<unsigned>(std::min(kMostWait, gr::now(GC_time_limit))));
    return gr::collector.is_incremental_under_way() ? 1 : 0;
}

// The kernel says what is written.
GR_EXPORT void GC_end_stubborn_change(const void *) {}
GR_EXPORT void GC_change_stubborn(const void *) {}
GR_EXPORT void GC_ptr_store_and_dirty(void *p, const void *q) { *static_cast<const void **>(p) = q; }

}  // extern "C"
