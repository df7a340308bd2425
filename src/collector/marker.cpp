// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: marker.hpp.
// Invariant: as there.
// Must not know: roots; threads; what becomes of the rest.
#include "collector/marker.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "base/bits.hpp"

namespace gr {
namespace {

// By whom it was written, and as what, is not known.
std::uintptr_t word_at(const char *at) {
    std::uintptr_t word = 0;
    std::memcpy(&word, at, sizeof word);
    return word;
}

}  // namespace

thread_local constinit Marker *Marker::current_ = nullptr;

void Marker::scan(platform::Range range) {
    const auto first = align_up(reinterpret_cast<std::uintptr_t>(range.begin), sizeof(void *));
    const auto end = reinterpret_cast<std::uintptr_t>(range.end);
    // Kept in registers, whatever is written to meanwhile.
    const auto base = reinterpret_cast<std::uintptr_t>(field_.base());
    const std::size_t bytes = field_.bytes();
    for (std::uintptr_t at = first; at + sizeof(void *) <= end; at += sizeof(void *)) {
        const std::uintptr_t word = word_at(reinterpret_cast<const char *>(at));
        if (word - base < bytes) follow(word);
    }
}

void Marker::scan_stack(platform::Range range) {
    const Field::Accepts elsewhere = std::exchange(accepts_, nullptr);
    scan(range);
    accepts_ = elsewhere;
}

void Marker::scan(Task task) {
    switch (task.descriptor.form()) {
        case Descriptor::Form::length:
            return scan({task.begin, task.begin + task.descriptor.length()});
        case Descriptor::Form::bitmap:
            return scan_bitmap(task.begin, task.descriptor.bitmap());
        case Descriptor::Form::procedure:
            return scan_by_procedure(task);
        case Descriptor::Form::per_object:
            return scan(Task{task.begin, own_descriptor(task)});
    }
}

void Marker::scan_bitmap(const char *begin, std::uintptr_t bitmap) {
    while (bitmap != 0) {
        const auto word = static_cast<unsigned>(std::countl_zero(bitmap));
        bitmap &= ~(~(~std::uintptr_t{0} >> 1) >> word);
        consider(word_at(begin + std::size_t{word} * sizeof(void *)));
    }
}

// What it considers by the marker's own function goes to current(); what it puts on the stack that it was given is taken
// from there.
void Marker::scan_by_procedure(Task task) {
    constexpr std::size_t kRoom = 256;
    Task room[kRoom + 1];
    const MarkProcedure procedure = procedures_[task.descriptor.procedure()];
    if (procedure == nullptr) return;
    const Current current(*this);
    auto *const block = reinterpret_cast<std::uintptr_t *>(const_cast<char *>(task.begin));
    Task *top = procedure(block, &room[0], &room[kRoom], task.descriptor.environment());
    for (; top != &room[0]; --top) push(*top);
}

// None that refers to another: a block whose first word was not written yet has none.
Descriptor Marker::own_descriptor(Task task) {
    const std::intptr_t displacement = task.descriptor.displacement();
    Descriptor own;
    if (displacement >= 0) {
        own = Descriptor(word_at(task.begin + displacement));
    } else if (const std::uintptr_t type = word_at(task.begin); type != 0) {
        const auto at = static_cast<std::intptr_t>(type) - (displacement + Descriptor::kIndirectBias);
        own = Descriptor(word_at(reinterpret_cast<const char *>(at)));
    }
    return own.form() == Descriptor::Form::per_object ? Descriptor() : own;
}

void Marker::reach_all(const Keeper &keeper, std::uint32_t kind) {
    keeper.for_each_superblock([&](const Superblock *s) {
        const char *const begin = field_.kind(kind).superblocks->begin(s);
        for (std::uint32_t i = 0; i < s->shape().blocks; ++i)
            consider(reinterpret_cast<std::uintptr_t>(begin + std::size_t{i} * s->shape().size));
    });
    keeper.for_each_run([&](const Superblock *run) {
        consider(reinterpret_cast<std::uintptr_t>(field_.kind(kind).superblocks->begin(run)));
    });
}

bool Marker::empty_ring() {
    bool any = false;
    for (unsigned i = 0; i < kRing; ++i) {
        const Candidate out = ring_.at(i);
        if (out.mark == nullptr) continue;
        ring_.marks[i] = nullptr;
        reach(out);
        any = true;
    }
    return any;
}

void Marker::drain() {
    do {
        for (Task task{}; work_.pop(&task);) {
            work_.share();
            if (task.descriptor.form() == Descriptor::Form::length && task.descriptor.length() > kPiece) {
                push({task.begin + kPiece, Descriptor::of_length(task.descriptor.length() - kPiece)});
                task.descriptor = Descriptor::of_length(kPiece);
            }
            scan(task);
        }
    } while (empty_ring());
}

}  // namespace gr
