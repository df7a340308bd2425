// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is decided once, by the options: the sizes of regions, runs and chunks, and which of them a request is
//    served by.
// Invariant: after the first allocation of the process nothing of it changes. A size that was rounded for an alignment
//    has that alignment where it is served, up to a chunk's own.
// Must not know: arenas.
#pragma once

#include <array>

#include "parts/jemalloc/arena_options.hpp"
#include "parts/jemalloc/chunk.hpp"
#include "parts/jemalloc/small_run.hpp"

namespace gr::lab {

class RunLayout {
  public:
    constexpr RunLayout() = default;
    // least_size: of the smallest region, a power of two.
    RunLayout(const ArenaOptions &options, std::size_t least_size)
        : options_(options),
          bins_(static_cast<unsigned>(std::countr_zero(least_size)), static_cast<unsigned>(options.quantum_shift),
                static_cast<unsigned>(options.limit_shift)),
          chunk_(static_cast<unsigned>(options.chunk_shift)) {
        for (unsigned bin = 0; bin < bins_.count(); ++bin) shapes_[bin] = RunShape(bins_.size_of(bin));
    }

    const ArenaOptions &options() const { return options_; }
    const QuantumBins &bins() const { return bins_; }
    const RunShape &shape(unsigned bin) const { return shapes_[bin]; }
    const ChunkShape &chunk() const { return chunk_; }

    bool is_small(std::size_t size) const { return size <= QuantumBins::largest(); }
    bool is_huge(std::size_t size) const { return size > chunk_.longest_run(); }
    // Of a large request.
    static unsigned order_of(std::size_t size) {
        return static_cast<unsigned>(std::bit_width((size - 1) >> kRunPageShift));
    }

    // What to ask for instead: a region's size has its own alignment, a run that of its length.
    static std::size_t rounded_for(std::size_t size, std::size_t alignment) {
        return size == 0 ? alignment : align_up(size, alignment);
    }

  private:
    ArenaOptions options_;
    QuantumBins bins_;
    std::array<RunShape, QuantumBins::kMostBins> shapes_{};
    ChunkShape chunk_;
};

}  // namespace gr::lab
