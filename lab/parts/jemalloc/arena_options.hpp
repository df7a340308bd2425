// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: jemalloc's options: those of phkmalloc, and letters for arenas, chunks, sizes and statistics.
// Invariant: values lie within the table's bounds.
// Must not know: where letters are read.
#pragma once

#include "parts/jemalloc/quantum_bins.hpp"
#include "parts/memory/malloc_options.hpp"

namespace gr::lab {

struct ArenaOptions : MallocOptions {
    int chunk_shift = 21;
    int arena_doublings = 0;
    int statistics = 0;
    int quantum_shift = QuantumBins::kLeastQuantumShift;
    int limit_shift = 9;

    void read();
};

inline constexpr MallocOption<ArenaOptions> kArenaOptions[] = {
    {'A', 'a', &ArenaOptions::abort, 1, 1},  // misuse always ends the program
    {'H', 'h', &ArenaOptions::hint, 0, 1},
    {'J', 'j', &ArenaOptions::junk, 0, 1},
    {'K', 'k', &ArenaOptions::chunk_shift, 18, 30},     // chunks twice, or half, as large
    {'N', 'n', &ArenaOptions::arena_doublings, -6, 6},  // twice, or half, as many arenas
    {'P', 'p', &ArenaOptions::statistics, 0, 1},        // print statistics at exit
    {'Q', 'q', &ArenaOptions::quantum_shift, 4, 10},    // the quantum twice, or half, as large
    {'S', 's', &ArenaOptions::limit_shift, 4, 11},      // the last multiple of the quantum twice, or half, as large
    {'V', 'v', &ArenaOptions::system_v, 0, 1},
    {'X', 'x', &ArenaOptions::fatal_exhaustion, 0, 1},
    {'Z', 'z', &ArenaOptions::zero, 0, 1},
};

inline void ArenaOptions::read() { MallocOptionReader<ArenaOptions>(this, kArenaOptions).read_all(); }

}  // namespace gr::lab
