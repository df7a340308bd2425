// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/displacements.hpp"

#include <atomic>

#include "base/bits.hpp"
#include "libgc/messages.hpp"

namespace gr {
namespace {

constinit std::atomic<Word> registered[kMostDisplacement / kWordBits]{};  // ordered by nothing

}  // namespace

void register_displacement(std::size_t offset) {
    if (offset >= kMostDisplacement) die("GC_register_displacement: the offset must be below 4096");
    registered[offset / kWordBits].fetch_or(Word{1} << offset % kWordBits, std::memory_order_relaxed);
}

bool is_registered_displacement(std::size_t offset) {
    if (offset == 0) return true;
    if (offset >= kMostDisplacement) return false;
    return (registered[offset / kWordBits].load(std::memory_order_relaxed) >> offset % kWordBits & 1) != 0;
}

void forget_displacements() {
    for (std::atomic<Word> &word : registered) word.store(0, std::memory_order_relaxed);
}

}  // namespace gr
