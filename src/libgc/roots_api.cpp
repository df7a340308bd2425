// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's functions for ranges of roots, and for the choice of libraries whose variables are roots.
// Invariant: a range is in the list once, however often it is added.
// Must not know: how roots are scanned.
#include "base/bits.hpp"
#include "libgc/allocation.hpp"
#include "libgc/callbacks.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"

namespace {

using gr::collector;
using gr::Locked;
using gr::platform::Range;

const char *up(const void *p) {
    return reinterpret_cast<const char *>(gr::align_up(reinterpret_cast<std::uintptr_t>(p), sizeof(void *)));
}
const char *down(const void *p) {
    return reinterpret_cast<const char *>(gr::align_down(reinterpret_cast<std::uintptr_t>(p), sizeof(void *)));
}

}  // namespace

extern "C" {

GR_EXPORT void GC_add_roots(void *low, void *end) {
    gr::ensure_initialised();
    const Range range{up(low), down(end)};
    if (range.begin >= range.end) return;
    const Locked locked;
    if (!collector.roots().add(range)) gr::die_without_memory();
}
GR_EXPORT void GC_remove_roots(void *low, void *end) {
    if (up(low) >= down(end)) return;
    const Locked locked;
    collector.roots().remove({up(low), down(end)});
}
GR_EXPORT void GC_clear_roots() {
    gr::ensure_initialised();
    const Locked locked;
    collector.roots().remove({nullptr, reinterpret_cast<const char *>(UINTPTR_MAX)});
}

GR_EXPORT void GC_exclude_static_roots(void *low, void *end) {
    gr::ensure_initialised();
    const Range range{down(low), up(end)};
    if (range.is_empty()) return;
    const Locked locked;
    if (collector.roots().overlaps_excluded(range)) gr::die("GC_exclude_static_roots: ranges overlap");
    if (!collector.roots().exclude(range)) gr::die_without_memory();
}
// Also removes the library's own excluded range, which only saves time.
GR_EXPORT void GC_clear_exclusion_table() {
    const Locked locked;
    collector.roots().forget_excluded();
}

GR_EXPORT void GC_register_has_static_roots_callback(GC_has_static_roots_func ask) {
    const Locked locked;
    gr::callbacks.has_static_roots = ask;
}

GR_EXPORT int GC_is_tmp_root(void *p) { return collector.roots().is_variable(p) ? 1 : 0; }

GR_EXPORT void GC_set_no_dls(int on) { gr::store(GC_no_dls, on); }
GR_EXPORT int GC_get_no_dls() { return gr::now(GC_no_dls); }

}  // extern "C"
