// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how long containers are and where an address finds its header: all of one size (Wasik 5.3), or of four sizes in
//       super-containers (3.1.2.2, 5.8).
// Invariant: an address leads to its container by its bits and, in a super-container, by the size that stands in the
//            first header of it, which is never another's.
// Must not know: what lies in containers, and who has them.
#pragma once

#include <array>
#include <concepts>
#include <new>

#include "parts/container.hpp"
#include "parts/wilderness.hpp"

namespace gr::lab {

// Shape: a size of containers. `make` is called by one thread at a time, unless kIsLockFree.
template <class C>
concept ContainerSizes = requires(C sizes, const void *p, std::size_t size, unsigned n) {
    { C::kLargestBlock } -> std::convertible_to<std::size_t>;
    { C::kShapes } -> std::convertible_to<unsigned>;
    { C::kIsLockFree } -> std::convertible_to<bool>;
    { C::container_of(p) } -> std::same_as<Container *>;
    // Of a container for blocks of that size, of which so many containers were asked for before.
    { C::shape_for(size, n) } -> std::same_as<unsigned>;
    { C::shape_of(C::container_of(p)) } -> std::same_as<unsigned>;
    // Not yet formatted; nullptr: no memory.
    { sizes.make(n) } -> std::same_as<Container *>;
    typename C::LargeBlocks;
};

template <std::size_t kBytes>
class FixedContainers {
    static_assert(is_power_of_two(kBytes) && kBytes > sizeof(Container));

  public:
    using LargeBlocks = ContainedLargeBlocks<kBytes>;
    // Two blocks fit at least (5.3).
    static constexpr std::size_t kLargestBlock = align_down((kBytes - sizeof(Container)) / 2, kAlignment);
    static constexpr unsigned kShapes = 1;
    static constexpr bool kIsLockFree = true;

    static Container *container_of(const void *p) {
        return reinterpret_cast<Container *>(align_down(reinterpret_cast<std::uintptr_t>(p) - 1, kBytes));
    }
    static unsigned shape_for(std::size_t, unsigned) { return 0; }
    static unsigned shape_of(const Container *) { return 0; }
    Container *make(unsigned) {
        char *const begin = wilderness_.extend(kBytes, kBytes);
        if (begin == nullptr) return nullptr;
        return new (begin) Container(begin + sizeof(Container), kBytes - sizeof(Container));
    }

  private:
    Wilderness wilderness_;
};

class VariedContainers {
    static constexpr unsigned kSuperShift = 16;
    static constexpr unsigned kLeastShift = 10;
    static constexpr unsigned kStep = 2;  // each shape is four times the one before
    static constexpr std::size_t kSuperBytes = std::size_t{1} << kSuperShift;
    // Of one size, before a larger one is taken.
    static constexpr unsigned kAskedToGrow = 16;

  public:
    using LargeBlocks = ContainedLargeBlocks<kSuperBytes>;
    static constexpr std::size_t kLargestBlock = FixedContainers<kSuperBytes>::kLargestBlock;
    static constexpr unsigned kShapes = (kSuperShift - kLeastShift) / kStep + 1;
    static constexpr bool kIsLockFree = false;

    // A large block's container is one whose shape is the largest.
    static Container *container_of(const void *p) {
        const std::uintptr_t inside = reinterpret_cast<std::uintptr_t>(p) - 1;
        const auto *const super = reinterpret_cast<const Container *>(align_down(inside, kSuperBytes));
        if (super->place_bytes == 0) return const_cast<Container *>(super);
        return reinterpret_cast<Container *>(align_down(inside, super->place_bytes + sizeof(Container)));
    }
    // The least that two blocks fit into, and a larger one for each kAskedToGrow of the size.
    static unsigned shape_for(std::size_t size, unsigned asked) {
        unsigned shape = 0;
        while (bytes_of(shape) - sizeof(Container) < 2 * size) ++shape;
        shape += asked / kAskedToGrow;
        return shape < kShapes ? shape : kShapes - 1;
    }
    static unsigned shape_of(const Container *container) {
        unsigned shape = 0;
        while (bytes_of(shape) - sizeof(Container) < container->place_bytes) ++shape;
        return shape;
    }
    Container *make(unsigned shape) {
        Piece &rest = rests_[shape];
        if (rest.bytes == 0) {
            rest.begin = wilderness_.extend(kSuperBytes, kSuperBytes);
            if (rest.begin == nullptr) return nullptr;
            rest.bytes = kSuperBytes;
        }
        char *const begin = rest.begin;
        const std::size_t bytes = bytes_of(shape);
        rest.begin += bytes;
        rest.bytes -= bytes;
        return new (begin) Container(begin + sizeof(Container), bytes - sizeof(Container));
    }

  private:
    struct Piece {
        char *begin = nullptr;
        std::size_t bytes = 0;
    };
    static constexpr std::size_t bytes_of(unsigned shape) { return std::size_t{1} << (kLeastShift + kStep * shape); }

    Wilderness wilderness_;
    std::array<Piece, kShapes> rests_{};  // of the super-container that is not used up
};

static_assert(ContainerSizes<FixedContainers<kUnitBytes>> && ContainerSizes<VariedContainers>);

}  // namespace gr::lab
