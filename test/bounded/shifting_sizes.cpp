// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: fills with one size, frees seven of eight, goes on to the next size, through all classes; another CPU frees,
//    and fills again before the sizes shift.
// Invariant: a class may keep what it had at its peak, once: after each size the superblocks are within its bound.
// Must not know: heaps.
#include <thread>
#include <utility>
#include <vector>

#include "ledger.hpp"
#include "options.hpp"
#include "rss.hpp"

using namespace gr::test;

namespace {

constexpr size_t kBytes = size_t{12} << 20;
constexpr size_t kKeepOneOf = 8;

void fill(std::vector<void *> &blocks, size_t size) {
    for (void *&block : blocks)
        if (block == nullptr) block = std::malloc(size);
}

void free_most(std::vector<void *> &blocks) {
    for (size_t i = 0; i < blocks.size(); ++i)
        if (i % kKeepOneOf != 0) std::free(std::exchange(blocks[i], nullptr));
}

void shift(size_t size, const Spread &spread, std::vector<void *> &blocks) {
    const size_t stays = (blocks.size() + kKeepOneOf - 1) / kKeepOneOf;
    Ledger ledger(size);
    ledger.allocated(blocks.size());
    spread.bind_me(0);
    fill(blocks, size);
    ledger.require_bounded("filled with one size");
    std::thread([&] {
        spread.bind_me(1);
        free_most(blocks);
        fill(blocks, size);
    }).join();
    ledger.require_bounded("filled again by another");
    std::thread([&] {
        spread.bind_me(1);
        free_most(blocks);
    }).join();
    ledger.freed(blocks.size() - stays);
    ledger.require_bounded("freed by another");
}

// All classes together: what is held is about the sum of what each had at its peak.
void report(const std::vector<std::vector<void *>> &kept, uint64_t others) {
    uint64_t bound = 0;
    uint64_t live = 0;
    uint64_t peaks = 0;
    for (uint32_t c = 1; c < gr::kClassCount; ++c) {
        const std::vector<void *> &blocks = kept[c - 1];
        const size_t size = gr::size_of_class(gr::ClassIndex(c));
        bound += bound_of_bytes(gr::ClassIndex(c), blocks.size(), gr::black_box::statistics().heaps);
        peaks += blocks.size() * size;
        live += (blocks.size() + kKeepOneOf - 1) / kKeepOneOf * size;
    }
    gr::black_box::say(STDOUT_FILENO,
                       "sizes that shift: %lu KiB live, peaks %lu KiB, %lu KiB in superblocks, bound %lu KiB\n",
                       live / 1024, peaks / 1024, (superblock_bytes() - others) / 1024, bound / 1024);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    Options options = {.steps = 1, .threads = 1};
    int status = 0;
    if (!options.parse("Sizes that shift through all classes.", argc, argv, status)) return status;
    const Spread spread;
    const uint64_t others = superblock_bytes();
    for (size_t step = 0; step < options.steps; ++step) {
        std::vector<std::vector<void *>> kept;
        for (uint32_t c = 1; c < gr::kClassCount; ++c) {
            const size_t size = gr::size_of_class(gr::ClassIndex(c));
            kept.emplace_back(kBytes / size);
            shift(size, spread, kept.back());
        }
        report(kept, others);
        for (const std::vector<void *> &blocks : kept)
            for (void *block : blocks) std::free(block);
    }
    gr::black_box::require_sound_heap();
    return 0;
}
