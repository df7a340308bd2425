// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what fork's child does with its heap: allocates in every class, in runs and directly, and starts threads.
// Invariant: uses nothing but the heap, threads and write, so a failure here is the heap's.
// Must not know: how the parent came to fork.
#pragma once

#include "pattern.hpp"
#include "require.hpp"
#include "sizes.hpp"

#include <pthread.h>
#include <array>

namespace gr::test {

// Three blocks of every size live at once; then all are checked and freed.
inline void allocate_in_every_class(size_t blocks_per_size) {
    static constexpr size_t kMost = 3;
    std::array<std::array<void *, kMost>, kSizeCount> blocks = {};
    for (size_t index = 0; index < kSizeCount; ++index)
        for (size_t number = 0; number < blocks_per_size && number < kMost; ++number) {
            void *block = number == 1 ? std::calloc(1, kSizes[index]) : std::malloc(kSizes[index]);
            if (block == nullptr) fail("process %d: no block of %zu bytes: out of memory", getpid(), kSizes[index]);
            if (number == 1 && *static_cast<unsigned char *>(block) != 0)
                fail("process %d: calloc(1, %zu): %p is not zero", getpid(), kSizes[index], block);
            Pattern(block, kSizes[index], number).write(block);
            blocks[index][number] = block;
        }
    for (size_t index = 0; index < kSizeCount; ++index)
        for (size_t number = 0; number < kMost; ++number) {
            void *block = blocks[index][number];
            if (block != nullptr && !Pattern(block, kSizes[index], number).matches(block))
                fail("process %d: block %p of %zu bytes: contents changed", getpid(), block, kSizes[index]);
            std::free(block);
        }
}

inline void *thread_of_child(void *) {
    Random random(7);
    std::array<void *, 64> blocks = {};
    for (int turn = 0; turn < 500; ++turn) {
        void *&place = blocks[random.below(blocks.size())];
        std::free(place);
        place = std::malloc(kSizes[random.below(kClassSizes)]);
        if (place == nullptr) fail("process %d: a thread of the child got no memory", getpid());
        std::memset(place, 0x5a, 11);
    }
    for (void *block : blocks) std::free(block);
    return nullptr;
}

inline void start_threads(size_t count) {
    std::array<pthread_t, 8> threads;
    for (size_t number = 0; number < count; ++number)
        if (const int error = pthread_create(&threads[number], nullptr, thread_of_child, nullptr); error != 0)
            fail("process %d: pthread_create in the child: %s", getpid(), std::strerror(error));
    for (size_t number = 0; number < count; ++number) pthread_join(threads[number], nullptr);
}

}  // namespace gr::test
