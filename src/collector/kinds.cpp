// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/kinds.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include "platform/memory.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constexpr std::size_t kMostSlotBytes = kTiB;
constexpr std::size_t kLeastSlotBytes = kGiB;
// Under a limit on addresses. A slot has room for a region as large as the limit, and one part for the region's marks.
constexpr std::size_t kMarksParts = 8;
constexpr std::size_t kLeastSpreadSlot = 64 * kMiB;
// From where the kernel puts mappings, in turn: beyond a scarce region of malloc's, an open one, and for machines with
// fewer addresses. Other mappings than these come to more than the limit before they come so far.
constexpr std::size_t kDistances[] = {8 * kTiB, 24 * kTiB, 64 * kGiB};
static_assert(Marks::kBytesPerUnit * kMarksParts <= kUnitBytes,
              "the marks of a region fit into their part of its slot");

std::size_t spread_slot(std::size_t address_limit) {
    const std::size_t limit = std::min(address_limit, kMostSlotBytes / 2);
    return std::max(kLeastSpreadSlot, std::bit_ceil(limit + limit / (kMarksParts - 1)));
}

}  // namespace

bool Kinds::start(const Options &options) {
    options_ = options;
    address_limit_ = platform::address_space_limit();
    return is_reserved() ? reserve() : spread();
}

bool Kinds::reserve() {
    for (std::size_t slot = kMostSlotBytes; slot >= kLeastSlotBytes; slot /= 2) {
        const std::size_t bytes = slot * (kMostKinds + 1);
        auto *const range = static_cast<char *>(platform::reserve(bytes));
        if (range == nullptr) continue;
        base_ = reinterpret_cast<char *>(align_up(reinterpret_cast<std::uintptr_t>(range), slot));
        if (begin_field(slot)) return true;
        platform::unmap(range, bytes);
    }
    return false;
}

bool Kinds::spread() {
    const std::size_t slot = spread_slot(address_limit_);
    for (const std::size_t distance : kDistances) {
        char *const range = platform::far_below_mappings(slot * (kMostKinds + 1) + distance);
        if (range == nullptr) continue;
        base_ = reinterpret_cast<char *>(align_up(reinterpret_cast<std::uintptr_t>(range), slot));
        if (platform::is_unmapped(const_cast<char *>(base_), slot * kMostKinds) && begin_field(slot)) return true;
    }
    return false;
}

bool Kinds::begin_field(std::size_t slot) {
    slot_shift_ = static_cast<unsigned>(std::countr_zero(slot));
    return field_.begin(base_, slot * kMostKinds, slot_shift_);
}

Kind *Kinds::make(const KindSetup &setup) {
    // With an allocator of its own.
    struct Made {
        Instance instance;
        gr_heap_tables tables{};
        Kind kind{.instance = instance, .tables = &tables};
    };
    const std::uint32_t number = count_.load(std::memory_order_relaxed);
    if (number == kMostKinds) return nullptr;
    void *const memory = platform::map(sizeof(Made), alignof(Made));
    if (memory == nullptr) return nullptr;
    Made *const made = ::new (memory) Made;
    made->kind.setup = setup;
    // Nobody writes to it through the range but the kind.
    const std::size_t slot_bytes = std::size_t{1} << slot_shift_;
    char *const slot = const_cast<char *>(base_) + number * slot_bytes;
    const std::size_t region_bytes = is_reserved() ? slot_bytes : slot_bytes - slot_bytes / kMarksParts;
    if (made->instance.start_within(options_, {slot, region_bytes, address_limit_}, "GC_free", &found_[number])) {
        if (!is_reserved()) made->kind.marks.settle(made->instance.region(), slot + region_bytes);
        describe_heap(made->instance, &made->tables);
        if (enlist(&made->kind)) {
            if (made->kind.may_be_freed_unseen()) made->instance.let_entries_free();
            return &made->kind;
        }
    }
    platform::unmap(memory, sizeof(Made));
    return nullptr;
}

Kind *Kinds::adopt(Instance &adopted, const KindSetup &setup) {
    void *const memory = platform::map(sizeof(Kind), alignof(Kind));
    if (memory == nullptr) return nullptr;
    Kind *const kind = ::new (memory) Kind{.instance = adopted, .tables = published_tables(), .setup = setup};
    adopted.forbid_direct();
    field_.set_words(setup.words);
    base_ = adopted.region().base();
    slot_shift_ = static_cast<unsigned>(std::bit_width(adopted.region().range_bytes() - 1));
    if (field_.begin(base_, adopted.region().range_bytes(), slot_shift_) && enlist(kind)) return kind;
    platform::unmap(memory, sizeof(Kind));
    return nullptr;
}

// false: no addresses for its marks.
bool Kinds::enlist(Kind *kind) {
    const Region &region = kind->instance.region();
    if (is_reserved() && !kind->marks.reserve(region)) return false;
    kind->number = count_.load(std::memory_order_relaxed);
    field_.set_kind(kind->number, {.region = &region,
                                   .superblocks = &kind->instance.superblocks(),
                                   .marks = &kind->marks,
                                   .descriptor = kind->setup.descriptor,
                                   .adds_size = kind->setup.adds_size});
    kinds_[kind->number] = kind;
    count_.store(kind->number + 1, std::memory_order_release);
    return true;
}

std::size_t Kinds::present_bytes() const {
    std::size_t bytes = 0;
    for_each([&](const Kind &kind) { bytes += kind.instance.pages().present_bytes(); });
    return bytes;
}

bool Kinds::cover_marks() {
    bool covered = field_.cover();
    for_each([&](Kind &kind) { covered = kind.marks.cover(kind.instance.region().unit_end()) && covered; });
    return covered;
}

}  // namespace gr
