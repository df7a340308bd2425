// SPDX-License-Identifier: Apache-2.0 OR MIT
// Uses no libm. The results are right to eight digits.
#include "profile/estimate.hpp"

#include <bit>

namespace gr {
namespace {

constexpr std::uint64_t kEach = 1;

}  // namespace

// f(x) = 1 - exp(-x) satisfies f(2x) = f(x) (2 - f(x)), and a short sum gives f(x) for small x.
double chance_below(double x) {
    constexpr double kSmall = 1.0 / 64;
    constexpr double kCertain = 64;
    if (x >= kCertain) return 1;
    unsigned halvings = 0;
    while (x > kSmall) {
        x /= 2;
        ++halvings;
    }
    double chance = x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4 * (1 - x / 5))));
    for (; halvings != 0; --halvings) chance *= 2 - chance;
    return chance;
}

// The number is a power of two times a mantissa m. The logarithm of m is 2 atanh((m - 1) / (m + 1)).
double minus_logarithm(std::uint64_t number) {
    constexpr double kNaturalLogarithmOf2 = 0.6931471805599453;
    constexpr unsigned kTerms = 9;
    const auto zeroes = static_cast<unsigned>(std::countl_zero(number | 1));
    const double mantissa = static_cast<double>((number | 1) << zeroes) * 0x1p-63;  // from 1 to 2
    const double t = (mantissa - 1) / (mantissa + 1);
    double sum = 0;
    double power = t;
    for (unsigned i = 0; i < kTerms; ++i) {
        sum += power / (2 * i + 1);
        power *= t * t;
    }
    const double logarithm = (zeroes + 1) * kNaturalLogarithmOf2 - 2 * sum;
    return logarithm > 0 ? logarithm : 0;
}

Estimate estimate_of(std::uint64_t size, std::uint64_t mean) {
    if (mean == kEach) return {kOneBlock, size};
    const std::uint64_t counted = size == 0 ? 1 : size;
    const double stands_for = 1 / chance_below(static_cast<double>(counted) / static_cast<double>(mean));
    const auto rounded = [](double n) { return static_cast<std::uint64_t>(2 * n + 1) / 2; };
    return {rounded(stands_for * static_cast<double>(kOneBlock)), rounded(stands_for * static_cast<double>(size))};
}

std::int64_t gap_of(std::uint64_t random, std::uint64_t mean) {
    if (mean == kEach) return 0;
    return 1 + static_cast<std::int64_t>(minus_logarithm(random) * static_cast<double>(mean));
}

}  // namespace gr
