// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: sizes, patterns and expectations that the conformance tests share.
// Invariant: the sizes cover both sides of every boundary of the documented size classes, runs and direct mappings.
// Must not know: how the allocator works inside; the spacing of size classes is documented behaviour.
#pragma once

#include "black_box.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace gr::conformance {

using black_box::opaque;
using black_box::Sequence;

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;
inline constexpr std::size_t kMinimumAlignment = 16;
inline constexpr std::size_t kLargestClass = 32 * kKiB;
inline constexpr std::size_t kDirectThreshold = 32 * kMiB;
inline constexpr std::size_t kPtrdiffMax = PTRDIFF_MAX;

// The largest size of every size class.
inline std::vector<std::size_t> class_sizes() {
    std::vector<std::size_t> sizes;
    for (std::size_t size = 16; size <= kKiB; size += 16) {
        sizes.push_back(size);
    }
    for (std::size_t doubling = kKiB; doubling < kLargestClass; doubling *= 2) {
        for (std::size_t step = 1; step <= 8; ++step) {
            sizes.push_back(doubling + step * doubling / 8);
        }
    }
    return sizes;
}

// Every boundary of class_sizes(), of the first runs of 64 KiB units, and of larger runs, with both neighbours.
inline std::vector<std::size_t> boundary_sizes() {
    std::vector<std::size_t> edges = class_sizes();
    for (std::size_t run : {64 * kKiB, 128 * kKiB, 192 * kKiB, 1 * kMiB, 2 * kMiB}) {
        edges.push_back(run);
    }
    std::vector<std::size_t> sizes{0};
    for (std::size_t edge : edges) {
        sizes.insert(sizes.end(), {edge - 1, edge, edge + 1});
    }
    return sizes;
}

// Content that differs between blocks and between places in a block. It repeats after kPeriod bytes, so that large blocks
// are written and compared by libc.
inline constexpr std::size_t kPeriod = 2048;

inline unsigned char content(uint64_t key, std::size_t place) {
    return static_cast<unsigned char>((key + place) * 167 >> 3);
}

inline std::array<unsigned char, kPeriod> one_period(uint64_t key, std::size_t size) {
    std::array<unsigned char, kPeriod> bytes{};
    for (std::size_t i = 0; i < std::min(size, kPeriod); ++i) bytes[i] = content(key, i);
    return bytes;
}

inline void fill(void *block, std::size_t size, uint64_t key) {
    const auto period = one_period(key, size);
    for (std::size_t at = 0; at < size; at += kPeriod) {
        std::memcpy(static_cast<unsigned char *>(block) + at, period.data(), std::min(kPeriod, size - at));
    }
}

inline bool filled(const void *block, std::size_t size, uint64_t key) {
    const auto period = one_period(key, size);
    for (std::size_t at = 0; at < size; at += kPeriod) {
        const void *place = static_cast<const unsigned char *>(block) + at;
        if (std::memcmp(place, period.data(), std::min(kPeriod, size - at)) != 0) {
            return false;
        }
    }
    return true;
}

inline bool all_zero(const void *block, std::size_t size) {
    const unsigned char *bytes = static_cast<const unsigned char *>(block);
    return size == 0 || (bytes[0] == 0 && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

inline bool aligned(const void *block, std::size_t alignment) {
    return reinterpret_cast<uintptr_t>(block) % alignment == 0;
}

}  // namespace gr::conformance
