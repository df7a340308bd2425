// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the statistics: counted on demand, described and printed from one table.
// Invariant: nothing is counted while blocks are allocated and freed; block_bytes = live + magazine + remote + free.
// Must not know: where the text goes.
#pragma once

#include "base/text.hpp"
#include "granary/granary.h"
#include "malloc/instance.hpp"

namespace gr {

// Of the heap; no system call.
gr_statistics count_statistics(const Instance &allocator);
// Of them, without the walk.
std::size_t metadata_bytes(const Instance &allocator);
// As much of them as the caller knows, by out->size; false: that is not even the head.
bool copy_statistics(const Instance &allocator, gr_statistics *out);

// The same with resident_bytes and huge_bytes, which the kernel is asked for.
gr_statistics snapshot(const Instance &allocator);

enum class StatisticsFormat : unsigned char { text, json, xml };

// Of a command that is told of; the rest is cut.
inline constexpr std::size_t kCommandBytes = 256;

// Whose statistics: told first where those of several processes come to the same place.
struct Origin {
    unsigned process;
    const char *command;  // printable
};

// Hands line after line to put; never allocates.
void print_statistics(const gr_statistics &statistics, StatisticsFormat format,
                      void (*put)(void *sink, const Text &line), void *sink, const Origin *origin = nullptr);

}  // namespace gr
