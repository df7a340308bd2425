// SPDX-License-Identifier: Apache-2.0 OR MIT
// A thread sets the contended bit before it sleeps. A thread that sees the bit when it unlocks wakes one sleeper.
#include "platform/mutex.hpp"

#include "base/config.hpp"
#include "platform/futex.hpp"

namespace gr::platform {
namespace {

constexpr int kSpins = 600;  // as long as a thread holds the lock for a batch; to sleep and be woken takes longer

// How many locks of each rank the thread holds; used by debug builds only.
struct HeldRanks {
    std::uint16_t count[static_cast<unsigned>(Rank::count)];
};
[[maybe_unused]] thread_local constinit HeldRanks held_ranks{};

}  // namespace

bool Mutex::wait() {
    return wait_with([this](std::uint32_t seen) {
        sleep_on(word_, seen);
        return true;
    });
}

bool Mutex::wait_for(unsigned milliseconds) {
    return wait_with([=, this](std::uint32_t seen) { return !sleep_on_for(word_, seen, milliseconds); });
}

// false: the calling thread holds the lock already, or sleep(the word as it was seen) says that the time was up.
template <class Sleep>
bool Mutex::wait_with(Sleep sleep) {
    if (held_by_me()) return false;
    count(Event::wait);
    for (int i = 0; i < kSpins; ++i) {
        pause();
        std::uint32_t expected = 0;
        if (word_.load(std::memory_order_relaxed) == 0 &&
            word_.compare_exchange_strong(expected, thread_tag(), std::memory_order_acquire)) {
            return true;
        }
    }
    // From here on this thread takes the lock as contended, because another thread may still sleep.
    for (;;) {
        std::uint32_t seen = word_.load(std::memory_order_relaxed);
        if (seen == 0) {
            if (word_.compare_exchange_strong(seen, thread_tag() | kContended, std::memory_order_acquire)) return true;
            continue;
        }
        if ((seen & kContended) == 0 &&
            !word_.compare_exchange_strong(seen, seen | kContended, std::memory_order_relaxed)) {
            continue;
        }
        if (!sleep(seen | kContended)) return false;
    }
}

void Mutex::wake() { wake_one(word_); }

void Mutex::note_acquired([[maybe_unused]] Rank rank, [[maybe_unused]] bool blocking) {
    count(Event::lock);
    if (rank == Rank::global_bin) count(Event::global_lock);
    if (rank == Rank::page_heap) count(Event::page_heap_lock);
    if constexpr (kDebug) {
        const auto level = static_cast<unsigned>(rank);
        // Ranks go strictly up. Exceptions: fork, which holds the list of instances, takes all locks of a rank in
        // order, and a thread that holds an instance's activation takes the locks of all its heaps.
        const bool takes_all = held_ranks.count[static_cast<unsigned>(Rank::instances)] != 0 ||
                               held_ranks.count[static_cast<unsigned>(Rank::activation)] != 0;
        for (unsigned above = takes_all ? level + 1 : level; blocking && above < static_cast<unsigned>(Rank::count);
             ++above) {
            GR_CHECK(held_ranks.count[above] == 0);
        }
        ++held_ranks.count[level];
    }
}

void Mutex::note_released([[maybe_unused]] Rank rank) {
    if constexpr (kDebug) --held_ranks.count[static_cast<unsigned>(rank)];
}

}  // namespace gr::platform
