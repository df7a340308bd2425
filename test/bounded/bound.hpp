// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the bound on blowup of docs/design/blowup.md, as a formula over the allocator's own constants.
// Invariant: constant expressions in whole superblocks, rounded down: memory comes in no smaller pieces.
// Must not know: how the allocator keeps it.
#pragma once

#include <cstdint>

#include "base/size_class.hpp"

namespace gr::test {

// Blocks of a class that one heap keeps from the program while no thread is inside the slow path: in its magazine, in
// its remote magazine, and freed to it but not collected, with one superblock that was announced late.
constexpr std::uint64_t kept_blocks(ClassIndex c) {
    const ClassShape &shape = shape_of(c);
    return shape.magazine_slots + kRemoteMagazineSlots + kRemoteThreshold / shape.size + shape.blocks;
}

// Hoard's part: superblocks of a class when at most `out` of its blocks were ever not free in a bitmap at once.
constexpr std::uint64_t bound_of_superblocks(ClassIndex c, std::uint64_t out, std::uint64_t heaps) {
    const std::uint64_t full_enough = (kEmptinessParts - 1) * std::uint64_t{shape_of(c).blocks};
    return out * kEmptinessParts / full_enough + heaps * (kSlackSuperblocks + 1 + kForeignSuperblocks);
}

// Superblock bytes of a class of which the program held at most `live` blocks at once.
constexpr std::uint64_t bound_of_bytes(ClassIndex c, std::uint64_t live, std::uint64_t heaps) {
    return bound_of_superblocks(c, live + heaps * kept_blocks(c), heaps) * shape_of(c).bytes();
}

}  // namespace gr::test
