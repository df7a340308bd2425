// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: when the next sample is due, and what a sampled block stands for.
// Invariant: a block of s bytes is sampled with the chance 1 - exp(-s / mean), whatever came before. A sampled block
//    also stands for those that were not sampled, so that sums are right on average. With a mean of one byte every
//    block is sampled.
// Must not know: what is sampled.
#pragma once

#include <cstdint>

namespace gr {

struct Estimate {
    std::uint64_t blocks = 0;  // in 65536ths
    std::uint64_t bytes = 0;

    Estimate &operator+=(const Estimate &other) {
        blocks += other.blocks;
        bytes += other.bytes;
        return *this;
    }
    Estimate &operator-=(const Estimate &other) {
        blocks -= other.blocks;
        bytes -= other.bytes;
        return *this;
    }
};
inline constexpr std::uint64_t kOneBlock = 65536;

// 1 - exp(-x).
double chance_below(double x);
// -ln(number / 2^64).
double minus_logarithm(std::uint64_t number);

// Depends only on its arguments, so that a free subtracts what the allocation added. A block of 0 bytes is sampled like
// a block of 1 byte.
Estimate estimate_of(std::uint64_t size, std::uint64_t mean);
// Bytes to the next sample: more than n with the chance exp(-n / mean), where `random` is evenly distributed over 64
// bits. 0 if every block is sampled.
std::int64_t gap_of(std::uint64_t random, std::uint64_t mean);

}  // namespace gr
