// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the quantities of the design as types that do not mix: units, classes, blocks, owners.
// Invariant: no implicit conversion between two of them, nor from or to an integer.
// Must not know: what any quantity is used for.
#pragma once

#include <compare>
#include <cstdint>

namespace gr {

template <class Tag, class Representation = std::uint32_t>
struct Quantity {
    Representation value = 0;

    constexpr Quantity() = default;
    constexpr explicit Quantity(Representation v) : value(v) {}
    constexpr auto operator<=>(const Quantity &) const = default;
    constexpr Quantity &operator++() {
        ++value;
        return *this;
    }
    constexpr Quantity operator+(Quantity other) const {
        return Quantity(static_cast<Representation>(value + other.value));
    }
    constexpr Quantity operator-(Quantity other) const {
        return Quantity(static_cast<Representation>(value - other.value));
    }
};

using UnitIndex = Quantity<struct UnitIndexTag>;    // of a unit, counted from the region's base
using UnitCount = Quantity<struct UnitCountTag>;    // of units
using ChunkIndex = Quantity<struct ChunkIndexTag>;  // of a chunk, counted from the first chunk
using ClassIndex = Quantity<struct ClassIndexTag>;  // of a size class; 0 is no class
using BlockIndex = Quantity<struct BlockIndexTag>;  // of a block in its superblock
using BlockCount = Quantity<struct BlockCountTag>;  // of blocks
using OwnerIndex = Quantity<struct OwnerIndexTag>;  // of the owner of a superblock: a heap, a global bin, nobody
using CpuGroup = Quantity<struct CpuGroupTag>;      // concurrency ids that are equal modulo kCpuGroups

constexpr UnitIndex operator+(UnitIndex first, UnitCount count) { return UnitIndex(first.value + count.value); }

}  // namespace gr
