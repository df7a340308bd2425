// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "malloc/profile_tables.hpp"

#include <atomic>
#include <cstddef>

#include "granary/wire/heap_tables.h"
#include "granary/wire/profile_tables.h"

namespace gr {
namespace {

// Nothing in the process reads it, so the compiler must be told to keep it. The magic number is an initial value, so
// the structure lies in a mapping of the file.
[[gnu::used]] alignas(GR_HEAP_TABLES_ALIGNMENT) constinit gr_profile_tables profile_tables = [] {
    gr_profile_tables tables{};
    tables.magic = GR_PROFILE_TABLES_MAGIC;
    tables.version = GR_PROFILE_TABLES_VERSION;
    return tables;
}();

static_assert(offsetof(Estimate, blocks) == 0 && offsetof(Estimate, bytes) == sizeof(std::uint64_t) &&
                  sizeof(Estimate) == 2 * sizeof(std::uint64_t) && sizeof(std::uintptr_t) == sizeof(std::uint64_t),
              "a reader reads an estimate as two words");
// Sites::Totals has the offsets of the records (Site).
static_assert(offsetof(Sites::Totals, allocated) == offsetof(Site, allocated) &&
                  offsetof(Sites::Totals, live) == offsetof(Site, live) &&
                  offsetof(Sites::Totals, peak) == offsetof(Site, peak),
              "a reader finds totals at the offsets of a site");

std::uint64_t address_of(const volatile void *p) { return reinterpret_cast<std::uintptr_t>(p); }

// Fills in what never changes.
void describe(const Profile &profile, gr_profile_tables *tables) {
    gr_profile_tables &t = *tables;
    const Sites &sites = profile.sites();
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
}

}  // namespace

void publish_tables(const Profile &profile) {
    gr_profile_tables &t = profile_tables;
    std::atomic_ref(t.mean).store(profile.mean(), std::memory_order_relaxed);
    std::atomic_ref(t.began).store(profile.began(), std::memory_order_relaxed);
    if (t.self != 0) return;
    describe(profile, &t);
    // release: pairs with nothing in this process. A reader outside that sees this address sees the rest.
    std::atomic_ref(t.self).store(address_of(&t), std::memory_order_release);
}

}  // namespace gr
