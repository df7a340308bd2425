// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what is the upper bound on the rate of malloc and free as threads are added?
//    Source: jemalloc (Evans, "Multi-threaded benchmarks", figure 6), after Lever and Boreham: a tight loop of
//    allocation and deallocation in every thread, 40,000,000 cycles divided equally among the threads, one
//    object of 512 bytes in a cycle. Our other papers do not name it; LFMalloc's linux-scalability is by the
//    same authors, see there.
//    Other suites give the name to a program whose threads allocate only or free only. Our papers do not
//    describe that; it is here as --consumers: each thread of the second half frees, in order, what one of the
//    first half allocates and hands over through a queue of at most 1,024 blocks.
//    Silent: whether an object is touched; here its first word is. An operation is a pair, of two threads with
//    --consumers.
// Invariant: verifies that a block is unchanged when it is freed; no two allocating threads write the same. With
//    --consumers also that no block is lost or comes twice.
// Must not know: which malloc it runs on.
#include <algorithm>
#include <array>
#include <memory>

#include "workload.hpp"

namespace {

using namespace gr::bench;

// The end is looked for once in so many pairs, so that it costs nothing.
constexpr std::uint64_t kUnobserved = 256;

void *block_with(std::size_t size, std::uint64_t mark) {
    void *const block = allocate(size);
    *static_cast<volatile std::uint64_t *>(block) = mark;
    return block;
}

void free_with(void *block, std::uint64_t mark) {
    if (*static_cast<volatile std::uint64_t *>(block) != mark)
        fail("malloc-test: block %p changed while it was held", block);
    std::free(block);
}

void allocate_and_free(std::size_t size, Worker &worker) {
    while (worker.more()) {
        const std::uint64_t count = std::min(kUnobserved, worker.left());
        for (std::uint64_t number = 0; number < count; ++number) {
            const std::uint64_t mark = number * worker.threads + worker.index;
            free_with(block_with(size, mark), mark);
        }
        worker.did(count);
    }
}

// From one producer to one consumer. A null pointer says that no more will come.
class Queue {
  public:
    void put(void *block) {
        const std::size_t end = end_.load(std::memory_order_relaxed);
        while (end - begin_.load(std::memory_order_acquire) == kCapacity) std::this_thread::yield();
        slots_[end % kCapacity] = block;
        end_.store(end + 1, std::memory_order_release);
    }
    void *take() {
        const std::size_t begin = begin_.load(std::memory_order_relaxed);
        while (end_.load(std::memory_order_acquire) == begin) std::this_thread::yield();
        void *const block = slots_[begin % kCapacity];
        begin_.store(begin + 1, std::memory_order_release);
        return block;
    }

  private:
    static constexpr std::size_t kCapacity = 1024;
    static constexpr std::size_t kLine = 64;  // what two threads write shall not share a cache line

    alignas(kLine) std::atomic<std::size_t> begin_ = 0;
    alignas(kLine) std::atomic<std::size_t> end_ = 0;
    alignas(kLine) std::array<void *, kCapacity> slots_;
};

// What the pair's blocks hold: one number after another, from here on.
std::uint64_t first_mark(std::size_t pair) { return std::uint64_t{pair} << 48; }

// At most `blocks`; the consumer counts them, so that the worker's own end is that of the time.
void produce(std::size_t size, std::size_t pair, std::uint64_t blocks, Queue &queue, Worker &worker) {
    for (std::uint64_t number = 0; number < blocks && worker.more(); ++number)
        queue.put(block_with(size, first_mark(pair) + number));
    queue.put(nullptr);
}

void consume(std::size_t pair, Queue &queue, Worker &worker) {
    std::uint64_t number = 0;
    while (void *const block = queue.take()) free_with(block, first_mark(pair) + number++);
    worker.did(number);
}

// The first half of the workers produces, so that each that has blocks to allocate has work left in the frame's count.
void run_pairs(Workload &workload, std::size_t size) {
    const std::size_t pairs = workload.settings().threads / 2;
    const std::uint64_t operations = workload.settings().operations;
    const std::unique_ptr<Queue[]> queues(new Queue[pairs]);
    workload.run([&](Worker &worker) {
        const std::size_t pair = worker.index % pairs;
        const std::uint64_t blocks = operations == 0 ? UINT64_MAX : operations / pairs + (pair < operations % pairs);
        if (worker.index < pairs)
            produce(size, pair, blocks, queues[pair], worker);
        else
            consume(pair, queues[pair], worker);
    });
}

}  // namespace

int main(int argc, char **argv) {
    std::size_t size = 512;
    bool consumers = false;
    Workload malloc_test("malloc-test", "Lever and Boreham's malloc-test, as Evans describes it: a tight loop.",
                         {.threads = 1, .operations = 40'000'000});
    malloc_test.options().number("--size", size, "bytes", {sizeof(std::uint64_t), 1 << 30});
    malloc_test.options().flag("--consumers", consumers, "half of the threads free what the others allocate");
    if (!malloc_test.parse(argc, argv)) return malloc_test.exit_code();
    const std::size_t threads = malloc_test.settings().threads;
    if (consumers) {
        if (threads % 2 != 0) {
            std::fprintf(stderr, "malloc-test: --consumers needs an even number of threads, at least 2\n");
            return 2;
        }
        run_pairs(malloc_test, size);
    } else {
        malloc_test.run([&](Worker &worker) { allocate_and_free(size, worker); });
        malloc_test.note("requested_peak_bytes", static_cast<double>(threads * size));
    }
    return malloc_test.report();
}
