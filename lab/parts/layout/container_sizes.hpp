// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how long containers are, where an address finds their header, and what lies behind that: all of one size (Wasik
//    5.3); of four sizes in super-containers (3.1.2.2, 5.8); any with a remote list (3.2.4.3).
// Invariant: an address leads to its container by its bits and, in a super-container, by the size that stands in the
//    first header of it, which is never another's.
// Must not know: what lies in containers, and which heap has them.
#pragma once

#include <array>
#include <concepts>
#include <new>
#include <utility>

#include "parts/layout/container.hpp"
#include "parts/lists/remote_list.hpp"
#include "parts/memory/wilderness.hpp"

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
    static_assert(is_power_of_two(kBytes) && kBytes > sizeof(Container), "a mask finds the container of a block");

  public:
    using LargeBlocks = ContainedLargeBlocks<FixedContainers>;
    // Two blocks fit at least (5.3).
    static constexpr std::size_t kLargestBlock = align_down((kBytes - sizeof(Container)) / 2, kAlignment);
    static constexpr unsigned kShapes = 1;
    static constexpr bool kIsLockFree = true;

    static constexpr std::size_t container_bytes() { return kBytes; }
    static Container *container_of(const void *p) { return Container::at(p, kBytes); }
    static unsigned shape_for(std::size_t, unsigned) { return 0; }
    static unsigned shape_of(const Container *) { return 0; }
    Container *make(unsigned) { return Container::make(wilderness_.extend(kBytes, kBytes), kBytes); }

  protected:
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
    using LargeBlocks = FixedContainers<kSuperBytes>::LargeBlocks;
    static constexpr std::size_t kLargestBlock = FixedContainers<kSuperBytes>::kLargestBlock;
    static constexpr unsigned kShapes = (kSuperShift - kLeastShift) / kStep + 1;
    static constexpr bool kIsLockFree = false;

    // A large block's container is one whose shape is the largest.
    static Container *container_of(const void *p) {
        Container *const super = Container::at(p, kSuperBytes);
        return super->place_bytes == 0 ? super : Container::at(p, super->place_bytes + sizeof(Container));
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
        char *&rest = rests_[shape];
        const bool is_used_up = reinterpret_cast<std::uintptr_t>(rest) % kSuperBytes == 0;
        if (is_used_up) rest = wilderness_.extend(kSuperBytes, kSuperBytes);
        if (rest == nullptr) return nullptr;
        const std::size_t bytes = bytes_of(shape);
        return Container::make(std::exchange(rest, rest + bytes), bytes);
    }

  private:
    static constexpr std::size_t bytes_of(unsigned shape) { return std::size_t{1} << (kLeastShift + kStep * shape); }

    Wilderness wilderness_;
    std::array<char *, kShapes> rests_{};  // of a super-container for each; where the next begins it is used up
};

// Containers with a remote list (3.2.4.3) between header and first block. A thread that frees need not know which heap
// has the container, and meets only threads that free into the same container. A block in the list counts as used.
template <ContainerSizes Sizes, RemoteListLike List>
class RemoteContainers : public Sizes {
    static constexpr std::size_t kListBytes = align_up(sizeof(List), kCacheLineBytes);

  public:
    static constexpr std::size_t kLargestBlock = align_down(Sizes::kLargestBlock - kListBytes / 2, kAlignment);

    static List &remote_list_of(Container *container) { return *reinterpret_cast<List *>(container + 1); }

    Container *make(unsigned shape) {
        Container *const container = Sizes::make(shape);
        if (container == nullptr) return nullptr;
        new (container->first_block) List();
        container->first_block += kListBytes;
        container->place_bytes -= kListBytes;
        return container;
    }
};

}  // namespace gr::lab
