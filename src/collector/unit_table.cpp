// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/unit_table.hpp"

#include "platform/memory.hpp"

namespace gr {
namespace {

constexpr std::size_t kStep = kChunkBytes * kUnitsPerChunk;  // bytes of the range whose rows are committed together

std::size_t bytes_of_rows(std::size_t bytes) { return (bytes >> kUnitShift) * sizeof(UnitRow); }

}  // namespace

bool UnitTable::reserve(std::uintptr_t base, std::size_t bytes) {
    const std::size_t size = bytes_of_rows(bytes);
    void *const rows = platform::reserve(size);
    if (rows == nullptr) return false;
    if (!platform::make_readable(rows, size)) {
        platform::unmap(rows, size);
        return false;
    }
    biased_rows_ = reinterpret_cast<std::uintptr_t>(rows) - bytes_of_rows(base);
    base_ = base;
    bytes_ = bytes;
    rows_ = rows;
    count_ = bytes >> kUnitShift;
    return true;
}

bool UnitTable::cover(std::uintptr_t begin, std::uintptr_t end) {
    const std::size_t first = align_down(begin - base_, kStep);
    const std::size_t last = align_up(end - base_, kStep);
    return platform::commit(&of(base_ + first), bytes_of_rows((last < bytes_ ? last : bytes_) - first));
}

}  // namespace gr
