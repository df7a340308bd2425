// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/kinds.hpp"

#include <bit>
#include <new>

#include "platform/memory.hpp"

namespace gr {
namespace {

constexpr std::size_t kMostSlotBytes = kTiB;
constexpr std::size_t kLeastSlotBytes = kGiB;

}  // namespace

bool Kinds::start(const Options &options) {
    options_ = options;
    for (std::size_t slot = kMostSlotBytes; slot >= kLeastSlotBytes; slot /= 2) {
        const std::size_t bytes = slot * (kMostKinds + 1);
        auto *const range = static_cast<char *>(platform::reserve(bytes));
        if (range == nullptr) continue;
        base_ = reinterpret_cast<char *>(align_up(reinterpret_cast<std::uintptr_t>(range), slot));
        slot_shift_ = static_cast<unsigned>(std::countr_zero(slot));
        if (field_.begin(base_, slot * kMostKinds, slot_shift_)) return true;
        platform::unmap(range, bytes);
    }
    return false;
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
    if (made->instance.start_within(options_, slot, slot_bytes, "GC_free", &found_[number])) {
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
    base_ = adopted.region().base();
    slot_shift_ = static_cast<unsigned>(std::bit_width(adopted.region().range_bytes() - 1));
    if (field_.begin(base_, adopted.region().range_bytes(), slot_shift_) && enlist(kind)) return kind;
    platform::unmap(memory, sizeof(Kind));
    return nullptr;
}

// false: no addresses for its marks.
bool Kinds::enlist(Kind *kind) {
    const Region &region = kind->instance.region();
    if (!kind->marks.reserve(region)) return false;
    kind->number = count_.load(std::memory_order_relaxed);
    field_.kind(kind->number) = {.region = &region,
                                 .superblocks = &kind->instance.superblocks(),
                                 .marks = &kind->marks,
                                 .descriptor = kind->setup.descriptor,
                                 .adds_size = kind->setup.adds_size};
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
