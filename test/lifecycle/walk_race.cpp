// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      walks over the heap of malloc and over a first-class heap, while threads allocate, free and fork.
// Invariant: what is in use all the time is visited once in each walk, and of what is free all the time nothing is.
// Must not know: how a walk finds blocks.
#include "black_box.hpp"

#include <sys/wait.h>
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 3;
constexpr int kWalks = 150;
constexpr unsigned kShared = 512;
constexpr std::size_t kKept = 3000;

std::atomic<void *> shared[2][kShared];
std::atomic<bool> over = false;
gr_heap *heap = nullptr;

void *allocate(int which, std::size_t size) { return which == 0 ? std::malloc(size) : gr_heap_malloc(heap, size); }
void release(int which, void *block) { which == 0 ? std::free(block) : gr_heap_free(heap, block); }

// Each frees what another has allocated.
void churn(std::uint64_t seed) {
    gr::black_box::Sequence random(seed);
    while (!over.load(std::memory_order_relaxed)) {
        const int which = static_cast<int>(random.below(2));
        const std::size_t size = random.below(200) == 0 ? random.below(300000) : 1 + random.below(1000);
        release(which, shared[which][random.below(kShared)].exchange(allocate(which, size)));
    }
}

// Tells what is kept from what comes and goes: no other block begins with its own address and this.
constexpr std::uint64_t kMark = 0x5eed0fb10c5a11ce;

struct Kept {
    Kept *self;
    std::uint64_t mark;
    std::uint64_t visits;
};

using KeptBlocks = std::vector<Kept *>;  // in the order of their addresses

// What others may free or have just got is looked up, not read.
int visit(void *context, void *block, std::size_t bytes) {
    const KeptBlocks &kept = *static_cast<const KeptBlocks *>(context);
    const auto found = std::lower_bound(kept.begin(), kept.end(), static_cast<Kept *>(block));
    if (found == kept.end() || *found != block) return 0;
    if ((*found)->self != block || (*found)->mark != kMark || bytes < sizeof(Kept)) return 1;
    ++(*found)->visits;
    return 0;
}

KeptBlocks keep_some(int which) {
    gr::black_box::Sequence random(77);
    KeptBlocks kept(kKept);
    for (Kept *&one : kept) {
        one = static_cast<Kept *>(allocate(which, sizeof(Kept) + random.below(random.below(100) == 0 ? 500000 : 1000)));
        *one = {one, kMark, 0};
    }
    std::sort(kept.begin(), kept.end());
    return kept;
}

void walk_once(int which, KeptBlocks &kept) {
    for (Kept *one : kept) one->visits = 0;
    const int said = gr_heap_walk(which == 0 ? nullptr : heap, visit, &kept);
    if (said != 0) gr::black_box::leave(1, "the walk said %d (%s)\n", said, std::strerror(errno));
    for (const Kept *one : kept) {
        if (one->visits != 1) gr::black_box::leave(1, "heap %d: visited %lu times\n", which, one->visits);
    }
}

int count(void *blocks, void *, std::size_t) {
    ++*static_cast<std::uint64_t *>(blocks);
    return 0;
}

void require_as_many_as_are_live(int which) {
    const gr_statistics taken = which == 0 ? gr::black_box::statistics() : gr::black_box::statistics(heap);
    std::uint64_t visited = 0;
    GR_REQUIRE(gr_heap_walk(which == 0 ? nullptr : heap, count, &visited) == 0);
    if (visited != taken.live_blocks)
        gr::black_box::leave(1, "heap %d: %lu visited of %lu\n", which, visited, taken.live_blocks);
}

void walk_in_child(KeptBlocks (&kept)[2]) {
    const pid_t child = fork();
    GR_REQUIRE(child >= 0);
    if (child == 0) {
        for (int which = 0; which < 2; ++which) walk_once(which, kept[which]);
        _exit(0);
    }
    int status = 0;
    GR_REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    alarm(200);
    heap = gr_heap_new(0);
    GR_REQUIRE(heap != nullptr);
    KeptBlocks kept[2] = {keep_some(0), keep_some(1)};
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; ++i) threads.emplace_back(churn, static_cast<std::uint64_t>(i + 1));
    for (int i = 0; i < kWalks; ++i) {
        for (int which = 0; which < 2; ++which) walk_once(which, kept[which]);
        if (i % 10 == 0) walk_in_child(kept);
    }
    over = true;
    for (std::thread &thread : threads) thread.join();
    for (int which = 0; which < 2; ++which) {
        for (std::atomic<void *> &block : shared[which]) release(which, block.exchange(nullptr));
        walk_once(which, kept[which]);
        require_as_many_as_are_live(which);
        for (Kept *one : kept[which]) release(which, one);
    }
    require_as_many_as_are_live(1);
    gr_heap_destroy(heap);
    gr::black_box::require_sound_heap();
}
