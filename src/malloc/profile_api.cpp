// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions of granary/profile.h, the signal of GRANARY_PROFILE, and where tools find the sums.
// Invariant: the profile begins after whoever stands before malloc had its say, and before the program does anything.
// Must not know: how samples are taken.
#include "granary/profile.h"

#include <signal.h>

#include <cerrno>
#include <cstddef>

#include "granary/heap_tables.h"
#include "granary/profile_tables.h"
#include "malloc/sampled.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

// Nobody here reads it, so the compiler must be told to keep it; the magic keeps it in a mapping of the file.
[[gnu::used]] alignas(GR_HEAP_TABLES_ALIGNMENT) constinit gr_profile_tables profile_tables = [] {
    gr_profile_tables tables{};
    tables.magic = GR_PROFILE_TABLES_MAGIC;
    tables.version = GR_PROFILE_TABLES_VERSION;
    return tables;
}();

static_assert(offsetof(Estimate, blocks) == 0 && offsetof(Estimate, bytes) == sizeof(std::uint64_t) &&
              sizeof(Estimate) == 2 * sizeof(std::uint64_t) && sizeof(std::uintptr_t) == sizeof(std::uint64_t));
// The sums of all have the records' offsets.
static_assert(offsetof(Sites::Totals, allocated) == offsetof(Site, allocated) &&
              offsetof(Sites::Totals, live) == offsetof(Site, live) &&
              offsetof(Sites::Totals, peak) == offsetof(Site, peak));

std::uint64_t address_of(const volatile void *p) { return reinterpret_cast<std::uintptr_t>(p); }

void publish_profile(const Profile &profile) {
    gr_profile_tables &t = profile_tables;
    const Sites &sites = profile.sites();
    t.mean = profile.mean();
    t.began = platform::rough_nanoseconds();
    t.changes_at = address_of(sites.changes_cell());
    t.block_unit = kOneBlock;
    t.sites_at = address_of(sites.all());
    t.site_stride = sizeof(Site);
    t.site_count_at = address_of(&sites.totals().count);
    t.allocated_offset = offsetof(Site, allocated);
    t.live_offset = offsetof(Site, live);
    t.peak_offset = offsetof(Site, peak);
    t.peak_seen_offset = offsetof(Site, peak_seen);
    t.stack_offset = offsetof(Site, stack);
    t.totals_at = address_of(&sites.totals());
    t.peaks_at = address_of(&sites.totals().peaks);
    t.peak_time_at = address_of(&sites.totals().peak_time);
    t.missed_at = address_of(profile.missed_cell());
    t.words_at = address_of(profile.stacks().words());
    // release: pairs with nothing in this process; a reader that sees it sees the rest.
    std::atomic_ref(t.self).store(address_of(&t), std::memory_order_release);
}

void wait_for_signal(int signal) {
    struct sigaction action {};
    action.sa_handler = [](int) { sampled.profile().dump_soon(); };
    action.sa_flags = SA_RESTART;
    if (sigaction(signal, &action, nullptr) == 0) return;
    TextBuffer<160> line;
    line << "granary: no profile is written at signal " << static_cast<unsigned>(signal)
         << ": the C library reserves this signal; choose another in GRANARY_PROFILE\n";
    platform::write_all(2, line.data(), line.size());
}

[[gnu::constructor(103)]] void begin() {
    sampled.begin();
    if (!sampled.is_on()) return;
    publish_profile(sampled.profile());
    if (const std::size_t signal = instance.options().profile_signal; signal != 0)
        wait_for_signal(static_cast<int>(signal));
}

}  // namespace
}  // namespace gr

extern "C" int gr_profile_dump(const char *path) {
    const long error = gr::sampled.is_on() ? gr::sampled.profile().dump(path) : -ENOTSUP;
    if (error == 0) return 0;
    errno = static_cast<int>(-error);
    return -1;
}
