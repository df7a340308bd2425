// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: stack_hash.hpp: chains that only grow, at their heads; a cache of pointers that is written at every miss.
// Invariant: an entry is complete before a chain or the cache leads to it; only its own thread changes it afterwards.
// Must not know: how long it takes.
#include "stack_hash.hpp"

#include <pthread.h>
#include <atomic>
#include <mutex>

namespace gr::bench::stack_hash {
namespace {

struct Entry {
    pthread_t thread;
    Identity identity;
    Entry *next;
    std::atomic<std::uintptr_t> stack_page{0};
};

constexpr unsigned kPageShift = 12;
constexpr std::size_t kCacheEntries = 1024;
constexpr std::size_t kChains = 256;

constinit std::mutex growing;
constinit std::atomic<Entry *> chains[kChains];
constinit std::atomic<Entry *> cache[kCacheEntries];

std::uintptr_t stack_page() { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) >> kPageShift; }

std::atomic<Entry *> &chain_of(pthread_t thread) {
    return chains[(static_cast<std::uintptr_t>(thread) >> kPageShift) % kChains];
}

Entry *find(pthread_t thread) {
    Entry *entry = chain_of(thread).load(std::memory_order_acquire);
    while (entry != nullptr && pthread_equal(entry->thread, thread) == 0) entry = entry->next;
    return entry;
}

}  // namespace

[[gnu::noinline]] Identity get_slowly() {
    Entry *const entry = find(pthread_self());
    if (entry == nullptr) return 0;
    const std::uintptr_t page = stack_page();
    entry->stack_page.store(page, std::memory_order_relaxed);
    cache[page % kCacheEntries].store(entry, std::memory_order_release);
    return entry->identity;
}

Identity get() {
    const std::uintptr_t page = stack_page();
    const Entry *const entry = cache[page % kCacheEntries].load(std::memory_order_acquire);
    if (entry == nullptr || entry->stack_page.load(std::memory_order_relaxed) != page) return get_slowly();
    return entry->identity;
}

void set(Identity identity) {
    if (Entry *const known = find(pthread_self())) {
        known->identity = identity;
        return;
    }
    const std::lock_guard guard(growing);
    std::atomic<Entry *> &chain = chain_of(pthread_self());
    chain.store(new Entry{.thread = pthread_self(), .identity = identity, .next = chain.load()});
}

}  // namespace gr::bench::stack_hash
