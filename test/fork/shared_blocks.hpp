// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: places in which threads of a forking parent publish the blocks they hold, so that the child can find them.
// Invariant: a published block is live, its contents are written, and its thread takes it back before it frees it;
//    so what lies in a place at the moment of fork belongs to the child. In flight, outside any place, a
//    thread has at most kInFlight blocks.
// Must not know: fork.
#pragma once

#include "pattern.hpp"
#include "require.hpp"
#include "sizes.hpp"

#include <array>
#include <atomic>

namespace gr::test {

class SharedBlocks {
  public:
    static constexpr size_t kPlaces = 128;
    static constexpr size_t kInFlight = 2;  // the old and the new block inside realloc

    // The owning thread's random operation.
    void churn(Random &random) {
        Place &place = places_[random.below(kPlaces)];
        void *block = place.block.exchange(nullptr, std::memory_order_acquire);
        if (block != nullptr) {
            check(block, place.size);
            if (random.below(8) == 0) {
                resize(block, place, random);
                return;
            }
            std::free(block);
            if (random.below(2) == 0) return;
        }
        place.size = kSizes[random.below(kClassSizes + (random.below(64) == 0 ? kRunSizes.size() : 0))];
        publish(std::malloc(place.size), place);
    }

    // Checks and frees every published block; returns their usable bytes and adds their number to count.
    template <typename UsableSize>
    uint64_t free_all(uint64_t &count, UsableSize usable_size) {
        uint64_t bytes = 0;
        for (Place &place : places_) {
            void *block = place.block.exchange(nullptr, std::memory_order_acquire);
            if (block == nullptr) continue;
            check(block, place.size);
            bytes += usable_size(block);
            count += 1;
            std::free(block);
        }
        return bytes;
    }

  private:
    struct Place {
        std::atomic<void *> block = nullptr;
        size_t size = 0;
    };

    static void check(const void *block, size_t size) {
        if (!Pattern(block, size, 0).matches(block))
            fail("process %d: block %p of %zu bytes: contents changed", getpid(), block, size);
    }

    static void publish(void *block, Place &place) {
        if (block == nullptr) fail("process %d: malloc(%zu): out of memory", getpid(), place.size);
        Pattern(block, place.size, 0).write(block);
        place.block.store(block, std::memory_order_release);
    }

    static void resize(void *block, Place &place, Random &random) {
        place.size = kSizes[random.below(kClassSizes)];
        publish(std::realloc(block, place.size), place);
    }

    std::array<Place, kPlaces> places_;
};

}  // namespace gr::test
