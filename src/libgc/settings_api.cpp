// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's functions for tuning: they set variables, and values that are only returned.
// Invariant: none takes the lock, because clients call them from callbacks that hold it.
// Must not know: which code reads the values.
#include "collector/markers.hpp"
#include "libgc/callbacks.hpp"
#include "libgc/settings.hpp"
#include "libgc/variables.hpp"

using gr::now;
using gr::settings;
using gr::store;

extern "C" {

struct GC_timeval_s {
    unsigned long tv_ms;
    unsigned long tv_nsec;
};

GR_EXPORT void GC_set_free_space_divisor(GC_word divisor) { store(GC_free_space_divisor, divisor); }
GR_EXPORT GC_word GC_get_free_space_divisor() { return now(GC_free_space_divisor); }
GR_EXPORT void GC_set_max_retries(GC_word retries) { store(GC_max_retries, retries); }
GR_EXPORT GC_word GC_get_max_retries() { return now(GC_max_retries); }
GR_EXPORT void GC_set_dont_expand(int on) { store(GC_dont_expand, on); }
GR_EXPORT int GC_get_dont_expand() { return now(GC_dont_expand); }
GR_EXPORT void GC_set_time_limit(unsigned long milliseconds) { store(GC_time_limit, milliseconds); }
GR_EXPORT unsigned long GC_get_time_limit() { return now(GC_time_limit); }
GR_EXPORT void GC_set_time_limit_tv(GC_timeval_s limit) {
    store(GC_time_limit, limit.tv_ms);
    settings.time_limit_nanoseconds = limit.tv_nsec;
}
GR_EXPORT GC_timeval_s GC_get_time_limit_tv() { return {now(GC_time_limit), settings.time_limit_nanoseconds}; }
GR_EXPORT void GC_set_full_freq(int frequency) { store(GC_full_freq, frequency); }
GR_EXPORT int GC_get_full_freq() { return now(GC_full_freq); }

GR_EXPORT void GC_set_min_bytes_allocd(std::size_t bytes) { settings.least_allocated = bytes; }
GR_EXPORT std::size_t GC_get_min_bytes_allocd() { return settings.least_allocated; }
GR_EXPORT void GC_set_allocd_bytes_per_finalizer(GC_word bytes) { settings.bytes_per_finalizer = bytes; }
GR_EXPORT GC_word GC_get_allocd_bytes_per_finalizer() { return settings.bytes_per_finalizer; }
GR_EXPORT void GC_set_pages_executable(int on) { settings.executable_pages = on != 0 ? 1 : 0; }
GR_EXPORT int GC_get_pages_executable() { return settings.executable_pages; }
GR_EXPORT void GC_set_rate(int rate) { settings.rate = rate; }
GR_EXPORT int GC_get_rate() { return settings.rate; }
GR_EXPORT void GC_set_max_prior_attempts(int attempts) { settings.most_prior_attempts = attempts; }
GR_EXPORT int GC_get_max_prior_attempts() { return settings.most_prior_attempts; }
GR_EXPORT void GC_set_manual_vdb_allowed(int on) { settings.manual_dirty = on != 0 ? 1 : 0; }
GR_EXPORT int GC_get_manual_vdb_allowed() { return settings.manual_dirty; }
GR_EXPORT void GC_set_markers_count(unsigned markers) {
    settings.markers = markers < gr::kMostMarkers ? markers : gr::kMostMarkers;
}

GR_EXPORT unsigned GC_get_version() { return 0x080202; }

}  // extern "C"
