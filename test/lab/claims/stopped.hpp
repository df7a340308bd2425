// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a thread that is stopped while it takes a block out of its heap, and how many of the others wait for it.
// Invariant: where it stops does not depend on time: at the free block itself, whose page cannot be read until it may
//    go on. The others come one by one, so that they cannot wait for each other.
// Must not know: how a lock is made.
#pragma once

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <csignal>

#include "lab/claims/counting.hpp"

namespace gr::lab {

// The page of an address. A thread that reads there is stopped until it is let go.
class Unreadable {
    static constexpr std::size_t kPage = 4 * kKiB;

  public:
    explicit Unreadable(const void *p) {
        page = reinterpret_cast<char *>(align_down(reinterpret_cast<std::uintptr_t>(p), kPage));
        is_met_now.store(false);
        may_go_on.store(false);
        struct sigaction action = {};
        action.sa_sigaction = stay;
        action.sa_flags = SA_SIGINFO;
        EXPECT_EQ(sigaction(SIGSEGV, &action, &before_), 0);
        EXPECT_EQ(mprotect(page, kPage, PROT_NONE), 0);
    }
    ~Unreadable() { sigaction(SIGSEGV, &before_, nullptr); }
    Unreadable(const Unreadable &) = delete;
    Unreadable &operator=(const Unreadable &) = delete;

    bool is_met() const { return is_met_now.load(); }
    void let_go() { may_go_on.store(true); }

  private:
    static void stay(int, siginfo_t *info, void *) {
        const auto *const p = static_cast<const char *>(info->si_addr);
        if (p < page || p >= page + kPage) {
            signal(SIGSEGV, SIG_DFL);
            return;
        }
        is_met_now.store(true);
        while (!may_go_on.load()) sched_yield();
        mprotect(page, kPage, PROT_READ | PROT_WRITE);
    }

    static inline char *page = nullptr;
    static inline std::atomic<bool> is_met_now{false};
    static inline std::atomic<bool> may_go_on{false};

    struct sigaction before_ = {};
};

// Longer than a page: that of such a block's first byte has nothing else but the end of the block before it.
inline constexpr std::size_t kStoppedSize = 8 * kKiB;

// Of kThreads, when one is stopped on taking a block of kStoppedSize and the others take one of `size` and free it.
template <class A>
std::size_t waiting_for_who_is_stopped(std::size_t size) {
    static constinit A allocator{};
    Team<A> team(kThreads, allocator);
    std::vector<void *> blocks = team.allocate(0, 3, kStoppedSize);
    std::sort(blocks.begin(), blocks.end());
    void *const met = blocks.back();
    blocks.pop_back();
    team.free(0, {met});
    Unreadable page(met);
    team[0].ask([] { allocator.free(allocator.allocate(kStoppedSize)); });
    while (!page.is_met() && !team[0].is_done()) std::this_thread::yield();
    EXPECT_TRUE(page.is_met());

    const auto waits = [] { return platform::counted(platform::Event::wait); };
    std::size_t waiting = 0;
    for (std::size_t other = 1; other < kThreads; ++other) {
        const std::uint64_t before = waits();
        team[other].ask([size] { allocator.free(allocator.allocate(size)); });
        while (!team[other].is_done() && waits() == before) std::this_thread::yield();
        if (waits() != before) ++waiting;
    }
    page.let_go();
    for (std::size_t member = 0; member < kThreads; ++member) team[member].wait();
    team.free(0, blocks);
    std::printf("stopped   %9zu of %zu wait: %s\n", waiting, kThreads - 1, kNameOf<A>);
    return waiting;
}

}  // namespace gr::lab
