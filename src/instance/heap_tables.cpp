// SPDX-License-Identifier: Apache-2.0 OR MIT
// Types and constants give every offset and stride: none is written down here, so the description follows the tables.

#include "granary/wire/heap_tables.h"

#include <atomic>
#include <cstddef>

#include "instance/heap_tables.hpp"

namespace gr {
namespace {

// Nothing in the process reads it, so the compiler must be told to keep it. The magic number is an initial value, so
// the structure lies in a mapping of the file.
[[gnu::used]] alignas(GR_HEAP_TABLES_ALIGNMENT) constinit gr_heap_tables heap_tables = [] {
    gr_heap_tables tables{};
    tables.magic = GR_HEAP_TABLES_MAGIC;
    tables.version = GR_HEAP_TABLES_VERSION;
    return tables;
}();

static_assert(static_cast<std::uint64_t>(UnitUse::superblock) == GR_USE_SUPERBLOCK,
              "uses have the numbers that granary/wire/heap_tables.h gives them");
static_assert(static_cast<std::uint64_t>(UnitUse::run) == GR_USE_RUN,
              "uses have the numbers that granary/wire/heap_tables.h gives them");
static_assert(sizeof(Superblock::use) == 1 && sizeof(Superblock::units) == 4 && sizeof(Superblock::size_class) == 4 &&
                  sizeof(Superblock::owner) == 4,
              "a reader reads the fields of a descriptor by these widths");
static_assert(sizeof(ClassShape::size) == 4 && sizeof(ClassShape::blocks) == 4 && sizeof(ClassShape::units) == 4,
              "a reader reads the fields of a shape by these widths");
static_assert(offsetof(platform::MagazineHeader, current) == 0 && sizeof(platform::MagazineHeader::current) == 4 &&
                  offsetof(platform::MagazineHeader, begin) == 6 && sizeof(platform::MagazineHeader::begin) == 2,
              "a reader reads a header at these offsets");
static_assert(sizeof(Message::count) == 4 && sizeof(Message::blocks[0]) == 8,
              "a reader reads a message by these widths");
static_assert(offsetof(Direct::Entry, address) == 0 && offsetof(Direct::Entry, bytes) == 8 &&
                  sizeof(Direct::Entry::mapper) == 8,
              "a reader reads an entry of direct blocks at these offsets");

std::uint64_t address_of(const volatile void *p) { return reinterpret_cast<std::uintptr_t>(p); }

void describe_region(const Region &region, gr_heap_tables *t) {
    t->region_begin = address_of(region.base());
    t->region_bytes = region.range_bytes();
    t->unit_bytes = kUnitBytes;
    t->first_unit = region.first_unit().value;
    t->unit_end_at = address_of(region.unit_end_cell());
    t->tables_at = address_of(region.fixed_table());
}

void describe_superblocks(const Region &region, gr_heap_tables *t) {
    t->descriptors_at = address_of(region.table(Superblocks::kDescriptors));
    t->descriptor_stride = sizeof(Superblock);
    t->use_offset = offsetof(Superblock, use);
    t->units_offset = offsetof(Superblock, units);
    t->class_offset = offsetof(Superblock, size_class);
    t->owner_offset = offsetof(Superblock, owner);
    t->tail_offset = offsetof(Superblock, tail_pages);
    t->tail_page_bytes = kLeastPageBytes;
    t->narrow_at = address_of(region.table(Superblocks::kNarrowBitmaps));
    t->narrow_words = Superblocks::kNarrowWords;
    t->wide_at = address_of(region.table(Superblocks::kWideBitmaps));
    t->wide_words = Superblocks::kWideWords;
    t->classes_at = address_of(kShapes.data());
    t->class_count = kClassCount;
    t->class_stride = sizeof(ClassShape);
    t->block_bytes_offset = offsetof(ClassShape, size);
    t->blocks_offset = offsetof(ClassShape, blocks);
    t->superblock_units_offset = offsetof(ClassShape, units);
}

void describe_heaps(const Instance &allocator, gr_heap_tables *t) {
    t->slabs_at = address_of(allocator.region().readable_table());
    t->slab_bytes = kSlabBytes;
    t->heaps_at = address_of(allocator.heaps().active_heaps_cell());
    t->heap_limit = kMaxHeaps;
    t->magazines = platform::kHeaderCount;
    t->magazine_stride = sizeof(platform::MagazineHeader);
    t->slots_offset = platform::kSlotDisplacement;
    t->messages_offset = kSlabBytes - sizeof(Outbox);
    t->messages = kMessages;
    t->message_stride = sizeof(Message);
    t->message_count_offset = offsetof(Message, count);
    t->message_blocks_offset = offsetof(Message, blocks);
    t->magazine_bytes = allocator.options().magazine;
}

}  // namespace

void publish_tables(const Instance &allocator) { describe_heap(allocator, &heap_tables); }

// Relaxed: a reader is outside the process, and each number stands for itself.
void publish_options(const Options &options) {
    std::atomic_ref(heap_tables.retain_bytes).store(options.retain, std::memory_order_relaxed);
    std::atomic_ref(heap_tables.magazine_bytes).store(options.magazine, std::memory_order_relaxed);
}

const gr_heap_tables *published_tables() { return &heap_tables; }

void describe_heap(const Instance &allocator, gr_heap_tables *t) {
    t->magic = GR_HEAP_TABLES_MAGIC;
    t->version = GR_HEAP_TABLES_VERSION;
    describe_region(allocator.region(), t);
    describe_superblocks(allocator.region(), t);
    describe_heaps(allocator, t);
    t->direct_table_at = address_of(Direct::entries_cell());
    t->direct_entries_at = address_of(Direct::entry_count_cell());
    t->direct_stride = sizeof(Direct::Entry);
    t->direct_mapper_offset = offsetof(Direct::Entry, mapper);
    t->direct_mapper = address_of(&allocator.direct());
    t->direct_count_at = address_of(allocator.direct().count_cell());
    t->retain_bytes = allocator.options().retain;
    t->retain_parts = kAllowanceParts;
    t->reuse_at = address_of(allocator.pages().allowance().earned_cell());
    t->absent_at = address_of(allocator.pages().absent_cell());
    t->reuse_since_at = address_of(allocator.pages().allowance().earned_since_cell());
    // release: pairs with nothing in this process. A reader outside that sees this address sees the rest.
    std::atomic_ref(t->self).store(address_of(t), std::memory_order_release);
}

}  // namespace gr
