// SPDX-License-Identifier: Apache-2.0 OR MIT
#include "recorder/python_places.hpp"

#include <atomic>

#include "granary/wire/recording.h"

namespace gr {
namespace {

// Which places this process told, by their numbers; of two in one slot the last. Ordered by nothing: a place may be told again.
constexpr std::size_t kToldBits = 13;
constinit std::array<std::atomic<std::uint64_t>, std::size_t{1} << kToldBits> told;

}  // namespace

std::uintptr_t PythonPlaces::find(const PythonFrames::Frame &frame, const PlaceTeller &teller, Known *known) {
    const std::uint64_t place = python_place(frame) | GR_RECORDED_PLACE;
    const std::uint64_t mixed = place ^ std::uint64_t{teller.number} << 32;
    std::atomic<std::uint64_t> &slot = told[place % told.size()];
    if (slot.load(std::memory_order_relaxed) != mixed) {
        if (!teller.tell(teller.of, place, frame)) return place;
        slot.store(mixed, std::memory_order_relaxed);
    }
    *known = {frame.code, frame.instruction, teller.number, PythonCodeMarks(frame.code), place};
    return place;
}

}  // namespace gr
