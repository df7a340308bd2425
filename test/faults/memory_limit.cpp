// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: life under GRANARY_LIMIT: allocates until it is refused, frees half, allocates again, from threads too.
// Invariant: refusal is NULL and ENOMEM; what the statistics say is held never exceeds the hard limit; a registered
//    callback is told of the soft limit before the hard one refuses.
// Must not know: how the library finds room.
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

#include "require.hpp"
#include "sizes.hpp"

using namespace gr::test;

namespace {

std::atomic<unsigned> told = 0;

void require_within(size_t hard) {
    const gr_statistics taken = gr::black_box::statistics();
    const size_t held = taken.heap_bytes + taken.retained_bytes + taken.direct_bytes + taken.metadata_bytes;
    if (held > hard) fail("%zu bytes are held, the limit is %zu", held, hard);
}

// Until nothing of any size is granted.
void fill(std::vector<std::pair<void *, size_t>> &blocks, Random &random, size_t hard) {
    for (size_t below = kClassCount + 4; below != 0;) {
        const size_t number = random.below(below);
        const size_t size = number < kClassCount ? largest_of_class(number) : kRunSizes[number - kClassCount];
        errno = 0;
        void *const block = std::malloc(size);
        if (block != nullptr) {
            std::memset(block, 1, size);
            blocks.emplace_back(block, size);
        } else if (errno != ENOMEM) {
            fail("malloc(%zu): refused with errno %d, expected ENOMEM", size, errno);
        } else {
            below = number;
        }
        if (blocks.size() % 1024 == 0) require_within(hard);
    }
    require_within(hard);
}

size_t sum(const std::vector<std::pair<void *, size_t>> &blocks) {
    size_t bytes = 0;
    for (const auto &[block, size] : blocks) bytes += size;
    return bytes;
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    if (argc != 2) fail("usage: memory_limit HARD_BYTES, with GRANARY_LIMIT set to the same");
    const size_t hard = std::strtoul(argv[1], nullptr, 10);
    gr_on_pressure([](void *context, size_t) { static_cast<std::atomic<unsigned> *>(context)->fetch_add(1); }, &told);
    std::vector<std::pair<void *, size_t>> blocks;
    blocks.reserve(hard / 64);  // so that it is refused nothing itself
    Random random(1);
    fill(blocks, random, hard);
    if (told == 0) fail("the hard limit refused, and nobody was told of the soft one");
    const size_t full = sum(blocks);
    if (full < hard / 4) fail("refused at %zu bytes of %zu", full, hard);
    for (unsigned round = 0; round < 3; ++round) {
        for (size_t i = 0; i < blocks.size(); ++i) {
            if (i % 2 != 0) std::free(std::exchange(blocks[i].first, nullptr));
        }
        std::erase_if(blocks, [](const auto &block) { return block.first == nullptr; });
        std::thread([&] { fill(blocks, random, hard); }).join();
        if (sum(blocks) < full / 2) fail("only %zu bytes of %zu can be had again", sum(blocks), full);
    }
    for (const auto &[block, size] : blocks) std::free(block);
    gr::black_box::require_sound_heap();
    return 0;
}
