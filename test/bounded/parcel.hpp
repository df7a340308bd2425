// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks that one thread allocates and another frees; the receiver checks that they are as they were given.
// Invariant: the first word of a block tells its address, the second its size.
// Must not know: how blocks travel.
#pragma once

#include "require.hpp"
#include "sizes.hpp"

namespace gr::test {

struct Parcel {
    uint64_t mark;
    uint64_t size;
};

// Mostly up to 1 KiB, sometimes any class.
inline Parcel *make_parcel(Random &random) {
    const size_t number = random.below(16) != 0 ? random.below(kSmallSteps) : random.below(kClassCount);
    const size_t size = largest_of_class(number);
    auto *parcel = static_cast<Parcel *>(std::malloc(size));
    if (parcel == nullptr) fail("malloc(%zu): out of memory", size);
    std::memset(static_cast<void *>(parcel), 0x5a, size);
    *parcel = {reinterpret_cast<uintptr_t>(parcel) ^ size, size};
    return parcel;
}

inline void free_parcel(Parcel *parcel) {
    if (parcel->mark != (reinterpret_cast<uintptr_t>(parcel) ^ parcel->size))
        fail("block %p: contents changed", static_cast<void *>(parcel));
    std::free(parcel);
}

}  // namespace gr::test
