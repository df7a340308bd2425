// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: requests that fit under the hard limit once everything that is empty was given back: past superblocks that
//    only magazines hold, and while other threads are giving back.
// Invariant: none is refused.
// Must not know: how the library finds room.
#include <thread>
#include <vector>

#include "require.hpp"
#include "sizes.hpp"

using namespace gr::test;

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kHard = 64 * kMiB;

size_t held() {
    const gr_statistics taken = gr::black_box::statistics();
    return taken.heap_bytes + taken.retained_bytes + taken.direct_bytes + taken.metadata_bytes;
}

// Above the soft limit, a block of each class freed: its superblock is all but empty.
void past_magazines() {
    void *const large[] = {std::malloc(20 * kMiB), std::malloc(20 * kMiB)};
    std::vector<void *> blocks;
    for (size_t size = 4608; size <= 32768; size += size / 8) blocks.push_back(std::malloc(size));
    gr_trim(0);
    for (void *const block : blocks) std::free(block);
    const size_t before = held();
    void *const one = std::malloc(kHard - before + kMiB / 8);
    if (one == nullptr) fail("refused %zu KiB more, with %zu held, then %zu", kMiB / 8192, before, held());
    std::free(one);
    const size_t trimmed_from = held();
    const size_t said = gr_trim(0);
    if (trimmed_from - held() != said) fail("gr_trim says %zu, %zu went", said, trimmed_from - held());
    for (void *const block : large) std::free(block);
}

// Each thread holds one block at a time; all of them at once fit beside the tables.
void in_a_crowd() {
    constexpr unsigned kThreads = 6;
    constexpr unsigned kReplacements = 1000;
    constexpr size_t kMost = 9 * kMiB;
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; ++i) {
        threads.emplace_back([i] {
            Random random(i + 1);
            for (unsigned n = 0; n < kReplacements; ++n) {
                const size_t size = kMost / 2 + random.below(kMost / 2);
                void *const block = std::malloc(size);
                if (block == nullptr) fail("refused %zu bytes", size);
                std::memset(block, 1, size);  // to give back what was written takes its time
                std::free(block);
            }
        });
    }
    for (std::thread &thread : threads) thread.join();
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    if (argc != 2) fail("usage: room_under_limit magazines|crowd, with GRANARY_LIMIT=...,64M");
    std::strcmp(argv[1], "crowd") == 0 ? in_a_crowd() : past_magazines();
    return 0;
}
