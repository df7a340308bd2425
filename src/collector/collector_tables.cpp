// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/collector_tables.hpp"

#include <cstddef>

#include "granary/wire/heap_tables.h"

namespace gr {
namespace {

constexpr std::size_t kMostMemory = 128;

// Nothing in the process reads it, so the compiler must be told to keep it. The magic keeps it in a mapping of the
// file.
[[gnu::used]] alignas(GR_HEAP_TABLES_ALIGNMENT) constinit gr_collector_tables collector_tables = [] {
    gr_collector_tables tables{};
    tables.magic = GR_COLLECTOR_TABLES_MAGIC;
    tables.version = GR_COLLECTOR_TABLES_VERSION;
    return tables;
}();
constinit gr_collected_kind told_kinds[kMostKinds]{};
constinit std::uint32_t told_kind_count = 0;
constinit gr_collector_memory told_memory[kMostMemory]{};
constinit std::uint32_t told_memory_count = 0;

static_assert(static_cast<std::uint64_t>(Reason::asked) == GR_REASON_ASKED &&
                  static_cast<std::uint64_t>(Reason::due) == GR_REASON_DUE &&
                  static_cast<std::uint64_t>(Reason::refused) == GR_REASON_REFUSED &&
                  static_cast<std::uint64_t>(Reason::young) == GR_REASON_YOUNG,
              "reasons have the numbers that granary/wire/collector_tables.h gives them");
static_assert(static_cast<std::uint64_t>(Lifetime::collected) == GR_LIFETIME_COLLECTED &&
                  static_cast<std::uint64_t>(Lifetime::until_freed) == GR_LIFETIME_UNTIL_FREED &&
                  static_cast<std::uint64_t>(Lifetime::watched) == GR_LIFETIME_WATCHED &&
                  static_cast<std::uint64_t>(Lifetime::held_back) == GR_LIFETIME_HELD_BACK,
              "lifetimes have the numbers that granary/wire/collector_tables.h gives them");
static_assert(sizeof(CollectionReport::reason) == 1 && sizeof(CollectionReport::number) == 8 &&
                  sizeof(CollectionReport::threads) == 8 && sizeof(CollectionReport::live_bytes) == 8,
              "a reader reads the fields of a report by these widths");
static_assert(offsetof(LiveOfKind, blocks) == 0 && offsetof(LiveOfKind, bytes) == 8,
              "a reader reads two words for each kind");
static_assert(sizeof(Pace::disabled) == 4 && sizeof(Pace::automatic) == 1 && sizeof(std::atomic<bool>) == 1 &&
                  sizeof(bool) == 1,
              "a reader reads the switches by these widths");
static_assert(sizeof(Mark) == 1 && sizeof(std::size_t) == 8, "a reader reads a byte for each mark");

std::uint64_t address_of(const volatile void *p) { return reinterpret_cast<std::uintptr_t>(p); }

std::uint64_t contents_of(const KindSetup &setup) {
    switch (setup.descriptor.form()) {
        case Descriptor::Form::bitmap:
            return GR_CONTENTS_LAYOUT;
        case Descriptor::Form::procedure:
            return GR_CONTENTS_PROCEDURE;
        case Descriptor::Form::per_object:
            return GR_CONTENTS_PER_BLOCK;
        case Descriptor::Form::length:
            break;
    }
    if (setup.adds_size || setup.lifetime == Lifetime::held_back) return GR_CONTENTS_ANY;
    return setup.descriptor.is_nothing() ? GR_CONTENTS_NONE : GR_CONTENTS_LAYOUT;
}

// release: pairs with nothing in this process. A tool that reads the count finds as many complete entries.
void publish(std::uint32_t *count) { std::atomic_ref(*count).store(*count + 1, std::memory_order_release); }

void describe_report(const CollectionReport *report, gr_collector_tables *t) {
    t->report_at = address_of(report);
    t->number_offset = offsetof(CollectionReport, number);
    t->reason_offset = offsetof(CollectionReport, reason);
    t->began_offset = offsetof(CollectionReport, began);
    t->stopped_offset = offsetof(CollectionReport, stopped_nanoseconds);
    t->beside_offset = offsetof(CollectionReport, beside_nanoseconds);
    t->threads_offset = offsetof(CollectionReport, threads);
    t->freed_blocks_offset = offsetof(CollectionReport, freed_blocks);
    t->live_blocks_offset = offsetof(CollectionReport, live_blocks);
    t->live_bytes_offset = offsetof(CollectionReport, live_bytes);
    t->kinds_offset = offsetof(CollectionReport, live_of_kinds);
    t->kind_stride = sizeof(LiveOfKind);
}

}  // namespace

void publish_kind(const Kind &kind) {
    for (const platform::Growing &marks : kind.marks.memory()) publish_memory(MemoryUse::marks, marks);
    told_kinds[kind.number] = {.heap_at = address_of(kind.tables),
                               .contents = contents_of(kind.setup),
                               .lifetime = static_cast<std::uint64_t>(kind.setup.lifetime)};
    publish(&told_kind_count);
}

void publish_memory(MemoryUse use, const platform::Growing &memory) {
    if (told_memory_count == kMostMemory) return;  // a tool counts this memory as the program's
    told_memory[told_memory_count] = {.use = static_cast<std::uint64_t>(use),
                                      .begin_at = address_of(memory.begin_cell),
                                      .count_at = address_of(memory.count_cell),
                                      .element_bytes = memory.element_bytes};
    publish(&told_memory_count);
}

void publish_dont_collect(const int &number) {
    static_assert(sizeof number == 4, "a reader reads four bytes");
    collector_tables.dont_collect_at = address_of(&number);
}

void publish_waiting(const Region &region, const Marks &flags, const std::atomic<std::size_t> &bytes,
                     const std::atomic<std::size_t> &due) {
    for (const platform::Growing &memory : flags.memory()) publish_memory(MemoryUse::waiting, memory);
    collector_tables.narrow_flags_at = address_of(flags.row(region.first_unit(), false));
    collector_tables.wide_flags_at = address_of(flags.row(region.first_unit(), true));
    collector_tables.waiting_at = address_of(&bytes);
    collector_tables.waiting_due_at = address_of(&due);
}

void publish_finalization(const Finalization &finalization) {
    for (const platform::Growing &memory : finalization.finalizers.memory())
        publish_memory(MemoryUse::finalization, memory);
    for (const platform::Growing &memory : {finalization.short_links.memory(), finalization.long_links.memory(),
                                            finalization.toggles.memory(), finalization.ephemerons.memory()})
        publish_memory(MemoryUse::finalization, memory);
}

void publish_collections(const CollectionReport &last, const Pace &pace, const std::atomic<bool> &is_incremental,
                         const bool &retains_by_pace) {
    gr_collector_tables &t = collector_tables;
    t.kinds_at = address_of(&told_kinds[0]);
    t.kind_count_at = address_of(&told_kind_count);
    t.memory_at = address_of(&told_memory[0]);
    t.memory_count_at = address_of(&told_memory_count);
    describe_report(&last, &t);
    t.due_at = address_of(pace.due_cell());
    t.disabled_at = address_of(&pace.disabled);
    t.automatic_at = address_of(&pace.automatic);
    t.beside_at = address_of(&is_incremental);
    t.retains_by_pace_at = address_of(&retains_by_pace);
    // release: as for the counts.
    std::atomic_ref(t.self).store(address_of(&t), std::memory_order_release);
}

}  // namespace gr
