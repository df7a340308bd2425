// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: kinds.hpp.
// Invariant: as there.
// Must not know: what is marked, and when.
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
        slot_bytes_ = slot;
        if (field_.begin(base_, slot * kMostKinds, static_cast<unsigned>(std::countr_zero(slot)))) return true;
        platform::unmap(range, bytes);
    }
    return false;
}

Kind *Kinds::make(const KindSetup &setup) {
    const std::uint32_t number = count_.load(std::memory_order_relaxed);
    if (number == kMostKinds) return nullptr;
    void *const memory = platform::map(sizeof(Kind), alignof(Kind));
    if (memory == nullptr) return nullptr;
    Kind *const kind = ::new (memory) Kind;
    kind->setup = setup;
    kind->number = number;
    if (!kind->instance.start_within(options_, base_ + number * slot_bytes_, slot_bytes_, "GC_free") ||
        !kind->marks.reserve(kind->instance.region())) {
        platform::unmap(memory, sizeof(Kind));
        return nullptr;
    }
    field_.kind(number) = {.region = &kind->instance.region(),
                           .superblocks = &kind->instance.superblocks(),
                           .marks = &kind->marks,
                           .descriptor = setup.descriptor,
                           .adds_size = setup.adds_size};
    kinds_[number] = kind;
    count_.store(number + 1, std::memory_order_release);
    return kind;
}

bool Kinds::cover_marks() {
    bool covered = field_.cover();
    for_each([&](Kind &kind) { covered = kind.marks.cover(kind.instance.region().unit_end()) && covered; });
    return covered;
}

}  // namespace gr
