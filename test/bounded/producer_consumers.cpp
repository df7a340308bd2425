// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one producer allocates, N consumers free: every free is a remote free.
// Invariant: queues are kept full, so the live bytes hardly vary and resident memory must be flat.
// Must not know: remote frees.
#include <sched.h>

#include <array>
#include <atomic>
#include <memory>
#include <thread>

#include "options.hpp"
#include "parcel.hpp"
#include "rss.hpp"

using namespace gr::test;

namespace {

// One writer, one reader. The reader leaves kLag parcels lying until the queue is closed.
class Queue {
  public:
    void put(Parcel *parcel) {
        const size_t at = written_.load(std::memory_order_relaxed);
        while (at - read_.load(std::memory_order_acquire) == kCapacity) sched_yield();
        places_[at % kCapacity] = parcel;
        written_.store(at + 1, std::memory_order_release);  // pairs with the load in take()
    }

    // Null when the queue is closed and empty.
    Parcel *take() {
        const size_t at = read_.load(std::memory_order_relaxed);
        while (written_.load(std::memory_order_acquire) - at <= kLag) {
            if (closed_.load(std::memory_order_acquire)) {
                if (written_.load(std::memory_order_acquire) == at) return nullptr;
                break;
            }
            sched_yield();
        }
        Parcel *parcel = places_[at % kCapacity];
        read_.store(at + 1, std::memory_order_release);  // pairs with the load in put()
        return parcel;
    }

    void close() { closed_.store(true, std::memory_order_release); }

  private:
    static constexpr size_t kCapacity = 8192;
    static constexpr size_t kLag = kCapacity - 512;

    std::array<Parcel *, kCapacity> places_ = {};
    std::atomic<size_t> written_ = 0;
    std::atomic<size_t> read_ = 0;
    std::atomic<bool> closed_ = false;
};

void consume(Queue &queue, const Spread &spread, size_t number) {
    spread.bind_me(number);
    while (Parcel *parcel = queue.take()) free_parcel(parcel);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    Options options = {.steps = 4000, .threads = 3};
    int status = 0;
    if (!options.parse("One producer, many consumers.", argc, argv, status)) return status;

    std::vector<std::unique_ptr<Queue>> queues;
    std::vector<std::thread> consumers;
    const Spread spread;
    for (size_t number = 0; number < options.threads; ++number) {
        queues.push_back(std::make_unique<Queue>());
        consumers.emplace_back(consume, std::ref(*queues.back()), std::cref(spread), number + 1);
    }
    spread.bind_me(0);
    Run run(options.steps, options.seconds);
    run.each([&] {
        Random random(1);  // the same sizes in every step
        for (size_t number = 0; number < 1024; ++number) queues[number % queues.size()]->put(make_parcel(random));
    });
    for (const std::unique_ptr<Queue> &queue : queues) queue->close();
    for (std::thread &consumer : consumers) consumer.join();
    run.require_flat("producer and consumers");
    return 0;
}
