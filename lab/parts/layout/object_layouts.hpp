// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where an object's size and owner stand: in a header of its own (Wasik 3.6a), or of its container (3.6b); and
//    the allocation buffer that new objects come from (3.1.5).
// Invariant: bin_of_block(b) is the bin that b was made for, for ever.
// Must not know: lists and heaps.
#pragma once

#include <array>
#include <concepts>

#include "parts/layout/block_tag.hpp"
#include "parts/layout/container_sizes.hpp"
#include "parts/layout/size_bins.hpp"
#include "parts/memory/wilderness.hpp"

namespace gr::lab {

// Wasik 5.1: the largest bin, with its header.
inline constexpr std::size_t kLargestTagged = 32 * kKiB;

template <class L>
concept ObjectLayout = requires(std::size_t size, unsigned bin, void *block, typename L::Buffer buffer,
                                HeapNumber heap) {
    { L::bin_of(size) } -> std::same_as<unsigned>;
    { L::bin_of_block(block) } -> std::same_as<unsigned>;
    { L::size_of(bin) } -> std::same_as<std::size_t>;
    { L::move_to(block, heap) } -> std::same_as<void>;
    // Whether each heap has a buffer of its own, else the global heap has the only one.
    { L::kHeapHasBuffer } -> std::convertible_to<bool>;
    { buffer.take(bin, heap) } -> std::same_as<void *>;
    { buffer.renew(bin) } -> std::same_as<bool>;
};

// A header each. kBufferPerBin: for each bin a buffer (a lock for each bin), else one for all.
template <bool kHasOwnBuffer, bool kBufferPerBin = false, SizeBins B = GeometricBins<kLargestTagged>>
struct TaggedObjects : TaggedBlocks {
    using Bins = B;
    static_assert(Bins::largest() == kLargestTagged, "the largest bin must hold the largest object");
    static constexpr unsigned kBins = Bins::kCount;
    static constexpr bool kHeapHasBuffer = kHasOwnBuffer;

    static constexpr std::size_t largest() { return kLargestTagged - kTagBytes; }
    static unsigned bin_of(std::size_t size) { return Bins::bin_of(size + kTagBytes); }
    static unsigned bin_of_block(const void *block) { return Bins::bin_of(tag_of(block).bytes); }
    static std::size_t size_of(unsigned bin) { return Bins::size_of(bin); }
    static std::size_t usable_size(const void *p) { return TaggedBlocks::usable_size(p, 1); }
    // An allocation buffer from its begin as far as it was cut.
    static void draw_piece(auto &picture, const void *begin, std::size_t bytes) {
        picture.container(begin, show::ContainerKind::buffer, 0, 0, bytes);
        const char *at = static_cast<const char *>(begin) + 2 * kTagBytes;
        const char *const end = static_cast<const char *>(begin) + bytes;
        for (; at < end && tag_of(at).bytes != 0; at += tag_of(at).bytes) picture.range(begin, at, tag_of(at).bytes);
    }
    static void move_to(void *block, HeapNumber heap) {
        BlockTag tag = tag_of(block);
        tag.heap = heap & kHeapMask;
        set_tag(block, tag);
    }

    class Buffer {
      public:
        void *take(unsigned bin, HeapNumber heap) {
            Rest &rest = rests_[kBufferPerBin ? bin : 0];
            const std::size_t bytes = size_of(bin);
            if (rest.bytes < bytes) return nullptr;
            char *const block = rest.begin + kTagBytes;
            rest.begin += bytes;
            rest.bytes -= bytes;
            set_tag(block, {static_cast<std::uint32_t>(bytes), heap & kHeapMask, BlockState::cached});
            return block;
        }
        bool renew(unsigned bin) {
            char *const begin = wilderness.extend(kBufferBytes, Wilderness::kPage);
            if (begin == nullptr) return false;
            show::rule("Wasik 001, 3.1.5", "No allocation buffer has room: a new one is reserved.");
            show::made(begin, kBufferBytes);
            // The first tag lies below a multiple of kAlignment.
            rests_[kBufferPerBin ? bin : 0] = {begin + kTagBytes, kBufferBytes - kAlignment};
            return true;
        }
        // The buffer that new blocks come from.
        void draw(auto &picture, auto place) const {
            for (const Rest &rest : rests_)
                if (rest.begin != nullptr) picture.stands_around(rest.begin - kTagBytes, place);
        }

      private:
        struct Rest {
            char *begin = nullptr;
            std::size_t bytes = 0;
        };
        static constexpr std::size_t kBufferBytes = 128 * kKiB;  // (5.1)
        // Of the process: the face has one allocator.
        static inline constinit Wilderness wilderness;

        std::array<Rest, kBufferPerBin ? kBins : 1> rests_{};
    };
};

// A header for each container, whose blocks may be in many heaps' lists (5.3).
template <ContainerSizes Sizes>
struct ContainedBlocks : GeometricBins<Sizes::kLargestBlock>, InContainers<Sizes> {
    static constexpr unsigned kBins = ContainedBlocks::kCount;

    static unsigned bin_of_block(const void *block) { return Sizes::container_of(block)->bin; }
    static void draw_piece(auto &picture, const void *begin, std::size_t) {
        static_cast<const Container *>(begin)->draw(picture, show::ContainerKind::container);
    }
};

template <ContainerSizes Sizes>
struct ContainedObjects : ContainedBlocks<Sizes> {
    using Blocks = ContainedBlocks<Sizes>;
    static constexpr bool kHeapHasBuffer = true;

    // The container keeps its heap, which no code reads.
    static void move_to(void *, HeapNumber) {}

    // The unused part of the newest container of each bin.
    class Buffer {
      public:
        void *take(unsigned bin, HeapNumber) { return newest_[bin] == nullptr ? nullptr : newest_[bin]->take(); }
        bool renew(unsigned bin) {
            Container *const container = sizes.make(0);
            if (container == nullptr) return false;
            show::rule("Wasik 001, 5.3", "The newest container of the bin is used up: a new one is made.");
            container->format(bin, Blocks::size_of(bin));
            newest_[bin] = container;
            return true;
        }
        // The containers that new blocks come from.
        void draw(auto &picture, auto place) const {
            for (const Container *const container : newest_)
                if (container != nullptr) picture.stands(container, place);
        }

      private:
        static inline constinit Sizes sizes;  // as above

        std::array<Container *, Blocks::kBins> newest_{};
    };
};

}  // namespace gr::lab
