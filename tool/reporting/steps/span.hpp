// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which pages, or lines, a block lies in.
// Invariant: a block of no bytes takes one; a block that would end behind the last address ends there.
// Must not know: what a page holds besides.
#pragma once

#include <cstdint>

#include "reading/trace/live_set.hpp"

namespace gr::tool {

struct Span {
    std::uint64_t first = 0;
    std::uint64_t last = 0;

    [[nodiscard]] std::uint64_t count() const { return last - first + 1; }
};

[[nodiscard]] constexpr std::uint64_t last_byte_of(const trace::Block &block) {
    const std::uint64_t bytes = block.size == 0 ? 1 : block.size;
    return bytes - 1 > UINT64_MAX - block.address ? UINT64_MAX : block.address + bytes - 1;
}

[[nodiscard]] constexpr Span span_of(const trace::Block &block, unsigned unit_log) {
    return {block.address >> unit_log, last_byte_of(block) >> unit_log};
}

// The bytes of the block that lie in that unit.
[[nodiscard]] constexpr std::uint64_t bytes_within(const trace::Block &block, std::uint64_t unit, unsigned unit_log) {
    if (block.size == 0) return 0;
    const std::uint64_t begin = unit << unit_log;
    const std::uint64_t last = begin + ((std::uint64_t{1} << unit_log) - 1);
    const std::uint64_t from = block.address > begin ? block.address : begin;
    const std::uint64_t to = last_byte_of(block) < last ? last_byte_of(block) : last;
    return to - from + 1;
}

}  // namespace gr::tool
