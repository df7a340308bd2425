// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: numbers from 0 to 2^64 in buckets, four to a doubling: times, and bytes or blocks that went by.
// Invariant: small numbers have a bucket each; begin_of(bucket_of(n)) <= n < begin_of(bucket_of(n) + 1), but for the
//    last.
// Must not know: what the numbers mean.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace gr::tool {

inline constexpr unsigned kBuckets = 192;

constexpr unsigned bucket_of(std::uint64_t number) {
    constexpr unsigned kStepBits = 2;
    if (number < (1U << kStepBits)) return static_cast<unsigned>(number);
    const unsigned top = static_cast<unsigned>(std::bit_width(number)) - 1;
    const unsigned step = static_cast<unsigned>(number >> (top - kStepBits)) & ((1U << kStepBits) - 1);
    const unsigned bucket = ((top - kStepBits + 1) << kStepBits) + step;
    return bucket < kBuckets ? bucket : kBuckets - 1;
}
constexpr std::uint64_t begin_of(unsigned bucket) {
    return bucket < 4 ? bucket : (std::uint64_t{4} + (bucket & 3)) << ((bucket >> 2) - 1);
}
static_assert(bucket_of(3) == 3 && bucket_of(4) == 4 && bucket_of(7) == 7 && bucket_of(8) == 8 && bucket_of(9) == 8,
              "buckets are exact up to 8");
static_assert(begin_of(8) == 8 && begin_of(9) == 10 && bucket_of(10) == 9 && begin_of(12) == 16,
              "a bucket begins where the one before ends");

using Counts = std::array<std::uint64_t, kBuckets>;

}  // namespace gr::tool
