// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads whose key destructors and thread_local objects allocate and free while the thread dies.
// Invariant: every destructor finds a working heap, and no thread leaves a live block behind.
// Must not know: whether the library keeps anything per thread.
#include "black_box.hpp"

#include <malloc.h>
#include <pthread.h>
#include <array>
#include <atomic>
#include <climits>
#include <string>
#include <vector>

namespace {

constexpr int kKeys = 40;
constexpr int kThreads = 600;
constexpr int kTogether = 6;

std::array<pthread_key_t, kKeys> keys;
std::atomic<long> destructor_runs{0};

// A key's value is a block that counts down the rounds in which the destructor sets its key again.
struct Value {
    int key;
    int rounds;
    char content[200];
};

void destroy(void *pointer) {
    Value *value = static_cast<Value *>(pointer);
    destructor_runs.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t size : {std::size_t{24}, std::size_t{3000}, std::size_t{50000}}) {
        void *block = std::malloc(size);
        GR_REQUIRE(block != nullptr);
        std::memset(block, 1, size);
        std::free(gr::black_box::opaque(block));
    }
    if (value->rounds > 1) {
        Value *next = static_cast<Value *>(std::malloc(sizeof(Value)));
        GR_REQUIRE(next != nullptr);
        *next = *value;
        --next->rounds;
        GR_REQUIRE(pthread_setspecific(keys[static_cast<std::size_t>(next->key)], next) == 0);
    }
    std::free(value);
}

class Local {
  public:
    ~Local() {
        for (int i = 0; i < 100; ++i) {
            texts_.push_back("made while the thread is dying, too long to be kept inside " + std::to_string(i));
        }
        GR_REQUIRE(texts_.size() >= 100);
    }
    void touch() { texts_.emplace_back(300, 'x'); }

  private:
    std::vector<std::string> texts_;
};

thread_local Local local;

void *live_and_die(void *) {
    local.touch();
    for (int key = 0; key < kKeys; ++key) {
        Value *value = static_cast<Value *>(std::calloc(1, sizeof(Value)));
        GR_REQUIRE(value != nullptr);
        value->key = key;
        value->rounds = PTHREAD_DESTRUCTOR_ITERATIONS;
        GR_REQUIRE(pthread_setspecific(keys[static_cast<std::size_t>(key)], value) == 0);
    }
    return nullptr;
}

void run_threads(int count) {
    for (int started = 0; started < count; started += kTogether) {
        std::array<pthread_t, kTogether> threads;
        for (pthread_t &thread : threads) {
            GR_REQUIRE(pthread_create(&thread, nullptr, live_and_die, nullptr) == 0);
        }
        for (pthread_t thread : threads) {
            GR_REQUIRE(pthread_join(thread, nullptr) == 0);
        }
    }
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    for (pthread_key_t &key : keys) {
        GR_REQUIRE(pthread_key_create(&key, destroy) == 0);
    }
    run_threads(kThreads / 4);
    if (!gr::black_box::granary_in_use()) {
        return 0;
    }
    const gr_statistics before = gr::black_box::statistics();
    run_threads(kThreads);
    const gr_statistics after = gr::black_box::statistics();
    GR_REQUIRE(destructor_runs == long{kThreads + kThreads / 4} * kKeys * PTHREAD_DESTRUCTOR_ITERATIONS);
    // libc keeps a few stacks and their thread blocks; the number of threads must not show.
    GR_REQUIRE(after.live_blocks <= before.live_blocks + 2 * kTogether);
    gr::black_box::require_sound_heap();
    return 0;
}
