// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: kinds.hpp.
// Invariant: as there.
// Must not know: what is marked, and when.
#include "collector/kinds.hpp"

#include <new>

#include "platform/memory.hpp"

namespace gr {
namespace {

constexpr std::size_t kMostSlotBytes = kTiB;
constexpr std::size_t kLeastSlotBytes = kGiB;

}  // namespace

bool Kinds::start() {
    for (std::size_t slot = kMostSlotBytes; slot >= kLeastSlotBytes; slot /= 2) {
        auto *const range = static_cast<char *>(platform::reserve(slot * (kMostKinds + 1)));
        if (range == nullptr) continue;
        base_ = reinterpret_cast<char *>(align_up(reinterpret_cast<std::uintptr_t>(range), slot));
        slot_bytes_ = slot;
        field_.begin(base_, slot * kMostKinds, static_cast<unsigned>(std::countr_zero(slot)));
        return true;
    }
    return false;
}

Kind *Kinds::make(Contents contents, Lifetime lifetime) {
    const std::uint32_t number = count_.load(std::memory_order_relaxed);
    if (number == kMostKinds) return nullptr;
    void *const memory = platform::map(sizeof(Kind), alignof(Kind));
    if (memory == nullptr) return nullptr;
    Kind *const kind = ::new (memory) Kind;
    kind->contents = contents;
    kind->lifetime = lifetime;
    kind->number = number;
    instance.ensure_started();  // it knows the options
    if (!kind->instance.start_within(instance, base_ + number * slot_bytes_, slot_bytes_) ||
        !kind->marks.reserve(kind->instance.region())) {
        platform::unmap(memory, sizeof(Kind));
        return nullptr;
    }
    field_.kind(number) = {.region = &kind->instance.region(),
                           .superblocks = &kind->instance.superblocks(),
                           .marks = &kind->marks,
                           .has_pointers = contents == Contents::pointers};
    kinds_[number] = kind;
    count_.store(number + 1, std::memory_order_release);
    return kind;
}

bool Kinds::cover_marks() {
    bool covered = true;
    for_each([&](Kind &kind) { covered = kind.marks.cover(kind.instance.region().unit_end()) && covered; });
    return covered;
}

}  // namespace gr
