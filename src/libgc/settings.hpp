// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: settings that clients make only by functions: those that have an effect, and those that are only returned.
// Invariant: they are read and written without a lock, as documented.
// Must not know: the functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gr {

struct Settings {
    bool gives_back = false;        // explicit collections return all free memory to the OS
    bool prints_regularly = false;  // GC_dump at each collection
    bool ignores_gcj = false;
    bool begins_incremental = false;
    bool begins_generational = false;
    bool forbids_incremental = false;
    int suspend_signal = -1;  // the default
    int restart_signal = -1;
    int handles_fork = 1;
    // These are only returned.
    int rate = 10;
    int most_prior_attempts = 1;
    int manual_dirty = 0;
    int executable_pages = 0;
    unsigned markers = 0;
    unsigned long time_limit_nanoseconds = 0;
    std::size_t least_allocated = 1;
    unsigned long bytes_per_finalizer = 10000;
};
inline constinit Settings settings;

// The client will need this many bytes.
void expand_heap(std::size_t bytes);
// 0: no limit.
void limit_heap(std::size_t bytes);

}  // namespace gr
