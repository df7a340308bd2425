// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "profile/stacks.hpp"

#include <algorithm>

#include "platform/memory.hpp"

namespace gr {

bool Stacks::initialise() {
    if (slots_ == nullptr)
        slots_ = static_cast<std::atomic<StackNumber> *>(platform::map(kSlots * sizeof(StackNumber), 1));
    if (words_ == nullptr) words_ = static_cast<std::uintptr_t *>(platform::reserve(kWords * sizeof *words_));
    return slots_ != nullptr && words_ != nullptr;
}

std::uint64_t Stacks::mix(std::span<const std::uintptr_t> calls) {
    constexpr std::uint64_t kGoldenRatio = 0x9e3779b97f4a7c15;
    std::uint64_t mixed = calls.size();
    for (const std::uintptr_t call : calls) mixed = (mixed ^ (mixed >> 32) ^ call) * kGoldenRatio;
    return mixed >> (64 - kSlotBits);
}

std::span<const std::uintptr_t> Stacks::calls(StackNumber number) const {
    if (number == 0) return {};
    return {words_ + number + 1, head(number) & UINT32_MAX};
}

bool Stacks::is(StackNumber number, std::span<const std::uintptr_t> wanted) const {
    const std::span<const std::uintptr_t> there = calls(number);
    return (head(number) & kRetired) == 0 && std::equal(there.begin(), there.end(), wanted.begin(), wanted.end());
}

StackNumber Stacks::number_of(std::span<const std::uintptr_t> calls) {
    if (calls.empty()) return 0;
    const std::uint64_t home = mix(calls);
    const auto find = [&](std::size_t *at) {
        for (*at = home;; *at = (*at + 1) % kSlots) {
            const StackNumber number = slots_[*at].load(std::memory_order_acquire);
            if (number == 0 || is(number, calls)) return number;
        }
    };
    std::size_t at = 0;
    if (const StackNumber number = find(&at); number != 0) [[likely]]
        return number;
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return 0;
    if (const StackNumber number = find(&at); number != 0) return number;
    const StackNumber number = add(calls);
    slots_[at].store(number, std::memory_order_release);
    return number;
}

StackNumber Stacks::add(std::span<const std::uintptr_t> calls) {
    const std::size_t end = used_words_ + 1 + calls.size();
    if (count_ == kMostStacks || end > kWords) return 0;
    if (end > committed_words_) {
        const std::size_t step = std::min(kStepWords, kWords - committed_words_);
        if (!platform::commit(words_ + committed_words_, step * sizeof *words_)) return 0;
        committed_words_ += step;
    }
    const auto number = static_cast<StackNumber>(used_words_);
    ++count_;
    words_[number] = std::uintptr_t{count_} << kOrdinalShift | calls.size();
    std::copy(calls.begin(), calls.end(), words_ + number + 1);
    used_words_ = end;
    return number;
}

std::uint32_t Stacks::retire(std::uintptr_t begin, std::uintptr_t end) {
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return 0;
    bool is_any_retired = false;
    for (std::size_t at = 1; at < used_words_;) {
        const auto number = static_cast<StackNumber>(at);
        const std::span<const std::uintptr_t> there = calls(number);
        // A call's address is that of the instruction after it.
        const bool is_there =
            std::ranges::any_of(there, [&](std::uintptr_t call) { return begin < call && call <= end; });
        if (is_there && (head(number) & kRetired) == 0) {
            std::atomic_ref(words_[number]).fetch_or(kRetired, std::memory_order_relaxed);
            is_any_retired = true;
        }
        at += 1 + there.size();
    }
    return is_any_retired ? static_cast<std::uint32_t>(count_) : 0;
}

}  // namespace gr
