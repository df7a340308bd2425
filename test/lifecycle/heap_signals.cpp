// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a handler that allocates from two first-class heaps and from malloc, and frees, while it interrupts three
//    threads that do the same with the heaps in another order.
// Invariant: no hang, no abort, no block handed out twice: each carries its owner's mark while it is out. An interrupted
//    thread is inside one heap and its handler asks another, so two threads could wait for each other.
// Must not know: where in the allocator the signal strikes.
#include "black_box.hpp"

#include <atomic>
#include <csignal>
#include <ctime>
#include <thread>

namespace {

constexpr int kThreads = 3;
constexpr int kSignals = 2000;
constexpr unsigned kHangSeconds = 50;
constexpr std::size_t kSizes[] = {48, 2000, 30000, 100000, 70000, 200000};

gr_heap *heaps[2];
std::atomic<int> handled = 0;
std::atomic<bool> stopping = false;

// nullptr: malloc.
void *allocate(gr_heap *heap, std::size_t size) {
    return heap == nullptr ? std::malloc(size) : gr_heap_malloc(heap, size);
}
void release(gr_heap *heap, void *block) { heap == nullptr ? std::free(block) : gr_heap_free(heap, block); }

void allocate_and_free(gr_heap *heap, std::size_t size, uint64_t mark) {
    volatile uint64_t *block = static_cast<uint64_t *>(allocate(heap, size));
    GR_REQUIRE(block != nullptr);
    const std::size_t last = size / sizeof *block - 1;
    block[0] = mark;
    block[last] = mark;
    GR_REQUIRE(block[0] == mark && block[last] == mark);
    release(heap, const_cast<uint64_t *>(block));
}

void handler(int) {
    const int number = handled.fetch_add(1);
    const std::size_t size = kSizes[static_cast<std::size_t>(number) % std::size(kSizes)];
    for (gr_heap *heap : {heaps[number % 2], heaps[1 - number % 2], static_cast<gr_heap *>(nullptr)}) {
        allocate_and_free(heap, size, ~static_cast<uint64_t>(number));
    }
}

void work(int thread) {
    gr::black_box::Sequence random(static_cast<uint64_t>(thread));
    while (!stopping.load(std::memory_order_relaxed)) {
        gr_heap *heap = heaps[random.below(2)];
        const std::size_t size = kSizes[random.below(std::size(kSizes))];
        void *blocks[40];
        for (void *&block : blocks) block = gr_heap_malloc(heap, size);
        allocate_and_free(heap, size, random.next());
        for (void *block : blocks) gr_heap_free(heap, block);
    }
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    if (!gr::black_box::granary_in_use()) return gr::black_box::kSkipped;
    for (gr_heap *&heap : heaps) heap = gr_heap_new(0);
    GR_REQUIRE(heaps[0] != nullptr && heaps[1] != nullptr);
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    GR_REQUIRE(sigaction(SIGUSR1, &action, nullptr) == 0);
    alarm(kHangSeconds);

    std::thread threads[kThreads];
    for (int number = 0; number < kThreads; ++number) threads[number] = std::thread(work, number);
    for (int sent = 0; sent < kSignals; ++sent) {
        const int before = handled.load();
        GR_REQUIRE(pthread_kill(threads[sent % kThreads].native_handle(), SIGUSR1) == 0);
        // Two at a time, so that two handlers can meet.
        while (sent % 2 == 1 && handled.load() == before) sched_yield();
    }
    while (handled.load() < kThreads) sched_yield();
    stopping = true;
    for (std::thread &thread : threads) thread.join();
    for (gr_heap *heap : heaps) {
        gr_heap_trim(heap, 0);
        GR_REQUIRE(gr::black_box::statistics(heap).live_blocks == 0);
    }
    gr::black_box::require_sound_heap();
    for (gr_heap *heap : heaps) gr_heap_destroy(heap);
    return 0;
}
