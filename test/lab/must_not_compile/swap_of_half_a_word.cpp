// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the sequence compares and swaps a whole word (parts/lfmalloc/compare_and_swap.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: the sequence swaps a word
#include "parts/lfmalloc/compare_and_swap.hpp"

using namespace gr::lab;

#ifdef CONTROL
bool is_swapped(std::atomic<long> &word) { return compare_and_swap(0, word, 1L, 2L); }
#else
bool is_swapped(std::atomic<int> &word) { return compare_and_swap(0, word, 1, 2); }
#endif
