// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the sizes of small regions (jemalloc, figure 4): tiny ones, powers of two below the quantum; multiples of the
//    quantum; sub-page ones, powers of two up to half a page.
// Invariant: size_of(bin_of(n)) >= n up to largest(); a power of two that divides what was asked for divides the size.
// Must not know: runs, and what a page holds.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>

namespace gr::lab {

inline constexpr unsigned kRunPageShift = 12;
inline constexpr std::size_t kRunPageBytes = std::size_t{1} << kRunPageShift;

class QuantumBins {
  public:
    static constexpr unsigned kLeastTinyShift = 1;     // 2 bytes
    static constexpr unsigned kLeastQuantumShift = 4;  // what the widest type asks for
    static constexpr unsigned kMostShift = kRunPageShift - 1;
    static constexpr unsigned kMostBins = (1U << (kMostShift - kLeastQuantumShift)) + kMostShift;

    constexpr QuantumBins() = default;
    // Powers of two: of the least size, the quantum, and the last multiple of it.
    constexpr QuantumBins(unsigned least_shift, unsigned quantum_shift, unsigned limit_shift)
        : least_shift_(std::min(least_shift, quantum_shift)),
          quantum_shift_(quantum_shift),
          limit_shift_(std::max(limit_shift, quantum_shift)) {}

    constexpr unsigned count() const { return tiny() + multiples() + (kMostShift - limit_shift_); }
    static constexpr std::size_t largest() { return kRunPageBytes / 2; }

    constexpr unsigned bin_of(std::size_t size) const {
        const std::size_t last = size == 0 ? 0 : size - 1;
        if (last >> limit_shift_ != 0) return tiny() + multiples() + bits(last) - limit_shift_ - 1;
        if (tiny() == 0 || bits(last) >= quantum_shift_) return tiny() + static_cast<unsigned>(last >> quantum_shift_);
        return std::max(bits(last), least_shift_) - least_shift_;
    }
    constexpr std::size_t size_of(unsigned bin) const {
        if (bin < tiny()) return std::size_t{1} << (least_shift_ + bin);
        bin -= tiny();
        if (bin < multiples()) return std::size_t{bin + 1} << quantum_shift_;
        return std::size_t{1} << (limit_shift_ + 1 + bin - multiples());
    }

  private:
    static constexpr unsigned bits(std::size_t n) { return static_cast<unsigned>(std::bit_width(n)); }
    constexpr unsigned tiny() const { return quantum_shift_ - least_shift_; }
    constexpr unsigned multiples() const { return 1U << (limit_shift_ - quantum_shift_); }

    unsigned least_shift_ = kLeastTinyShift;
    unsigned quantum_shift_ = kLeastQuantumShift;
    unsigned limit_shift_ = 9;
};

}  // namespace gr::lab
