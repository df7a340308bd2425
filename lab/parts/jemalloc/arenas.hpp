// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the arenas of the process, and which of them a thread works on: in turn, as threads first allocate or free, for
//    ever (jemalloc; its figure 2 is the hash of thread identifiers that this replaces).
// Invariant: of two arenas neither was given to two threads more than the other. Arenas are made once, all together,
//    when the layout is decided, and stay.
// Must not know: what an arena does.
#pragma once

#include <new>
#include <span>

#include "parts/jemalloc/exit_report.hpp"
#include "parts/jemalloc/run_layout.hpp"
#include "parts/lists/lock.hpp"
#include "parts/memory/wilderness.hpp"

namespace gr::lab {

template <class C>
concept ArenaChoice = requires(C choice, unsigned count) {
    // Below count; for a thread that has none. One thread at a time asks.
    { choice.next(count) } -> std::same_as<unsigned>;
};

class RoundRobin {
  public:
    unsigned next(unsigned count) { return turn_++ % count; }

  private:
    unsigned turn_ = 0;
};

template <class A>
concept ArenaLike = std::constructible_from<A, const RunLayout *> && Lockable<A> && requires(A arena) {
    { arena.give_back_spare() } -> std::same_as<bool>;
};

// No region is smaller than kLeastSize.
template <ArenaLike Arena, ArenaChoice Choice, std::size_t kLeastSize>
class Arenas {
    static_assert(is_power_of_two(kLeastSize) && kLeastSize >= (1U << QuantumBins::kLeastTinyShift),
                  "the least size is the size of a tiny bin");

  public:
    static constexpr unsigned kPerCpu = 4;

    // Once they are made, report(of) is what option P asks for.
    constexpr Arenas(void (*report)(void *of), void *of) : report_(report), of_(of) {}

    // The calling thread's; nullptr: no memory.
    Arena *mine() {
        if (mine_of_ == this) [[likely]]
            return mine_;
        return join();
    }
    const RunLayout &layout() const { return layout_; }

    // false: there was none.
    bool give_back_spares() {
        bool any = false;
        for (Arena &arena : arenas_) any = arena.give_back_spare() || any;
        return any;
    }
    std::span<Arena> all() const { return arenas_; }

    // The arenas that have a chunk are drawn by what they have, and the caller's.
    void draw(auto &picture) const {
        const auto list = picture.place(picture.top(), show::PlaceKind::list, picture.words("arenas"),
                                        picture.words("the list of arenas"));
        picture.lock(list, &lock_);
        for (std::size_t i = 0; i < arenas_.size(); ++i) {
            const bool is_callers = mine_of_ == this && mine_ == &arenas_[i];
            if (!is_callers && !arenas_[i].has_chunk()) continue;
            const auto place = picture.place(picture.top(), show::PlaceKind::arena, picture.words("arena.", i),
                                             picture.words("arena ", i));
            if (is_callers) picture.is_callers(place);
            arenas_[i].draw(picture, place);
        }
    }
    void lock() { lock_all(lock_, arenas_); }
    void unlock() { unlock_all(lock_, arenas_); }

    static unsigned count_for(unsigned cpus, int doublings) {
        const unsigned count = cpus == 1 ? 1 : kPerCpu * cpus;
        const unsigned wanted = doublings < 0 ? count >> -doublings : count << doublings;
        return wanted == 0 ? 1 : wanted;
    }

  private:
    static inline thread_local constinit Arena *mine_ = nullptr;
    static inline thread_local constinit const void *mine_of_ = nullptr;  // a test has more arenas than one

    [[gnu::noinline]] Arena *join() {
        const std::lock_guard held(lock_);
        if (arenas_.empty() && !make()) return nullptr;
        mine_of_ = this;
        return mine_ = &arenas_[choice_.next(static_cast<unsigned>(arenas_.size()))];
    }
    // false: no memory; the next thread that asks tries again.
    bool make() {
        ArenaOptions options;
        options.read();
        const unsigned count = count_for(platform::usable_cpus(), options.arena_doublings);
        char *const memory = wilderness_.extend(count * sizeof(Arena), kRunPageBytes);
        if (memory == nullptr) return false;
        layout_ = RunLayout(options, kLeastSize);
        for (unsigned i = 0; i < count; ++i) new (memory + i * sizeof(Arena)) Arena(&layout_);
        arenas_ = {reinterpret_cast<Arena *>(memory), count};
        if (options.statistics != 0) exit_report.ask_for(report_, of_);
        return true;
    }

    Lock<Rank::instances> lock_;
    void (*report_)(void *of);
    void *of_;
    Choice choice_;
    RunLayout layout_;
    std::span<Arena> arenas_;
    Wilderness wilderness_;
};

}  // namespace gr::lab
