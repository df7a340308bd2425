// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads that unregister libc's restartable-sequence area in mid-life and go on allocating.
// Invariant: blocks stay distinct and whole, in those threads and in the others.
// Must not know: whether the library used the area. Where libc registered none, that part has nothing to undo.
#include "black_box.hpp"

#include <sys/rseq.h>
#include <sys/syscall.h>
#include <array>
#include <atomic>
#include <thread>
#include <vector>

namespace {

constexpr unsigned kUnregister = 1;
// The kernel wants the registered length back; libc registers the original 32 bytes.
constexpr unsigned kAreaSize = 32;
constexpr int kThreads = 4;
constexpr int kSteps = 60000;

void unregister_area() {
    if (__rseq_size == 0) {
        return;
    }
    struct rseq *area =
        reinterpret_cast<struct rseq *>(static_cast<char *>(__builtin_thread_pointer()) + __rseq_offset);
    GR_REQUIRE(syscall(SYS_rseq, area, kAreaSize, kUnregister, RSEQ_SIG) == 0);
    GR_REQUIRE(static_cast<int32_t>(area->cpu_id) < 0);
}

// Each block holds its own address and the step that made it, at both ends.
struct Block {
    uint64_t *words = nullptr;
    std::size_t count = 0;
    uint64_t mark = 0;
};

void replace(Block &block, uint64_t mark, std::size_t size) {
    if (block.words != nullptr) {
        GR_REQUIRE(block.words[0] == block.mark && block.words[block.count - 1] == block.mark);
    }
    std::free(block.words);
    block.count = 1 + size / sizeof(uint64_t);
    block.words = static_cast<uint64_t *>(std::malloc(block.count * sizeof(uint64_t)));
    GR_REQUIRE(block.words != nullptr);
    block.mark = mark;
    block.words[0] = mark;
    block.words[block.count - 1] = mark;
}

void live(uint64_t seed, bool unregisters) {
    gr::black_box::Sequence random(seed);
    std::array<Block, 200> blocks;
    for (int step = 0; step < kSteps; ++step) {
        if (unregisters && step == kSteps / 2) {
            unregister_area();
        }
        replace(blocks[random.below(blocks.size())], random.next(), random.below(std::size_t{16} << random.below(12)));
    }
    for (Block &block : blocks) {
        std::free(block.words);
    }
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    std::vector<std::thread> threads;
    for (uint64_t i = 0; i < kThreads; ++i) {
        threads.emplace_back(live, i, i % 2 == 0);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    unregister_area();
    live(99, false);
    // libc does not register a thread whose parent is not registered: this one never had the area.
    std::thread(live, 100, false).join();
    gr::black_box::require_sound_heap();
    return 0;
}
