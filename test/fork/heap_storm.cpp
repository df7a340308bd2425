// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a parent forks again and again while its threads allocate from first-class heaps and make and destroy
//    others; each child uses and destroys every heap it inherited, and makes its own.
// Invariant: in the child no block is lost: what it frees leaves a heap's live blocks to the block, and what then
//    remains is no more than was in flight; every structure of every heap is valid.
// Must not know: how the library survives fork.

#include "pattern.hpp"
#include "program_options.hpp"
#include "require.hpp"
#include "sizes.hpp"
#include "wait_child.hpp"

#include <sys/resource.h>
#include <atomic>
#include <thread>
#include <vector>

using namespace gr::test;

namespace {

constexpr size_t kHeaps = 3;
constexpr size_t kUsers = 5;
constexpr size_t kMakers = 2;
constexpr size_t kPlaces = 64;
constexpr size_t kInFlight = 2;  // of each user: the old and the new block
constexpr size_t kSmallReservation = size_t{8} << 20;

// As in SharedBlocks: a published block is live and written, and the user's own again before it is freed.
struct Place {
    std::atomic<void *> block = nullptr;
    size_t size = 0;
};

std::array<gr_heap *, kHeaps> heaps;
std::array<std::array<std::array<Place, kPlaces>, kHeaps>, kUsers> places;
std::atomic<size_t> started = 0;
std::atomic<bool> running = false;
std::atomic<bool> stopping = false;

void check(const Place &place, const void *block) {
    if (!Pattern(block, place.size, 0).matches(block))
        fail("process %d: block %p of %zu bytes: contents changed", getpid(), block, place.size);
}

void *allocate(gr_heap *heap, size_t size) {
    void *block = gr_heap_malloc(heap, size);
    if (block == nullptr) fail("process %d: no block of %zu bytes: out of memory", getpid(), size);
    Pattern(block, size, 0).write(block);
    return block;
}

void replace(gr_heap *heap, Place &place, Random &random) {
    void *block = place.block.exchange(nullptr, std::memory_order_acquire);
    if (block != nullptr) check(place, block);
    gr_heap_free(heap, block);
    place.size = kSizes[random.below(kClassSizes + (random.below(64) == 0 ? kRunSizes.size() : 0))];
    place.block.store(allocate(heap, place.size), std::memory_order_release);
}

// A thread that reads the heap's address in the child finds the heap whole.
void make_and_destroy(Random &random) {
    gr_heap *heap = gr_heap_new(kSmallReservation);
    if (heap == nullptr) fail("process %d: no heap: out of memory", getpid());
    for (int number = 0; number < 20; ++number) allocate(heap, kSizes[random.below(kClassSizes)]);
    if (random.below(8) == 0) allocate(heap, kDirectSizes[0]);
    gr_heap_destroy(heap);
}

void work_for_ever(size_t number) {
    Random random(number + 1);
    setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
    started.fetch_add(1);
    while (!stopping.load()) {
        running.wait(false);
        while (running.load(std::memory_order_relaxed) && !stopping.load(std::memory_order_relaxed)) {
            const size_t which = random.below(kHeaps);
            if (number < kUsers)
                replace(heaps[which], places[number][which][random.below(kPlaces)], random);
            else
                make_and_destroy(random);
        }
    }
}

void set_running(bool value) {
    running.store(value);
    running.notify_all();
}

size_t free_published(size_t which) {
    size_t count = 0;
    for (auto &of_user : places)
        for (Place &place : of_user[which]) {
            void *block = place.block.exchange(nullptr, std::memory_order_acquire);
            if (block == nullptr) continue;
            check(place, block);
            gr_heap_free(heaps[which], block);
            ++count;
        }
    return count;
}

void free_inherited_and_count(size_t which) {
    const gr_statistics before = gr::black_box::statistics(heaps[which]);
    require_counting_equation(before);
    const size_t freed = free_published(which);
    const gr_statistics after = gr::black_box::statistics(heaps[which]);
    require_counting_equation(after);
    if (before.live_blocks - after.live_blocks != freed)
        fail("child %d: freed %zu blocks of heap %zu, but the statistics fell by %ld", getpid(), freed, which,
             static_cast<long>(before.live_blocks - after.live_blocks));
    if (after.live_blocks > kUsers * kInFlight)
        fail("child %d: %lu blocks of heap %zu are live after freeing all: they are lost", getpid(), after.live_blocks,
             which);
}

void *thread_of_child(void *) {
    Random random(7);
    for (int turn = 0; turn < 300; ++turn) {
        gr_heap *heap = heaps[random.below(kHeaps)];
        gr_heap_free(heap, allocate(heap, kSizes[random.below(kClassSizes)]));
    }
    return nullptr;
}

void run_threads() {
    std::array<pthread_t, 2> threads;
    for (pthread_t &thread : threads)
        if (const int error = pthread_create(&thread, nullptr, thread_of_child, nullptr); error != 0)
            fail("process %d: pthread_create in the child: %s", getpid(), std::strerror(error));
    for (pthread_t &thread : threads) pthread_join(thread, nullptr);
}

[[noreturn]] void be_child() {
    alarm(kHangSeconds);
    for (size_t which = 0; which < kHeaps; ++which) {
        for (const size_t size : kSizes) gr_heap_free(heaps[which], allocate(heaps[which], size));
        free_inherited_and_count(which);
    }
    run_threads();
    Random random(9);
    make_and_destroy(random);
    if (const char *fault = gr_debug_check()) fail("child %d: gr_debug_check: %s", getpid(), fault);
    for (gr_heap *heap : heaps) gr_heap_destroy(heap);
    _exit(0);
}

void fork_once(Random &random, unsigned round) {
    set_running(true);
    const timespec pause = {0, static_cast<long>(random.below(400000))};
    nanosleep(&pause, nullptr);
    const pid_t child = fork();
    if (child < 0) fail("fork %u: %s", round, std::strerror(errno));
    if (child == 0) be_child();
    set_running(false);
    expect_child_success(child, round);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    if (!gr::black_box::granary_in_use()) return kSkipped;
    unsigned forks = 120;
    gr::bench::Options options("Forks while threads use, make and destroy heaps.");
    options.number("--forks", forks, "how many children");
    if (!options.parse(argc, argv)) return options.exit_code();

    for (gr_heap *&heap : heaps) heap = gr_heap_new(0);
    std::vector<std::thread> threads;
    for (size_t number = 0; number < kUsers + kMakers; ++number) threads.emplace_back(work_for_ever, number);
    while (started.load() < kUsers + kMakers) sched_yield();
    Random random(3);
    for (unsigned round = 0; round < forks; ++round) fork_once(random, round);
    stopping = true;
    set_running(true);
    for (std::thread &thread : threads) thread.join();
    for (size_t which = 0; which < kHeaps; ++which) {
        free_published(which);
        if (const uint64_t left = gr::black_box::statistics(heaps[which]).live_blocks; left != 0)
            fail("heap storm: %lu blocks left in heap %zu of the parent", left, which);
        gr_heap_destroy(heaps[which]);
    }
    dprintf(STDOUT_FILENO, "heap storm: %u children\n", forks);
}
