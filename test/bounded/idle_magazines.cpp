// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads fill the magazines of every CPU and go idle. trim: malloc_trim from one of them empties all.
//    background: with GRANARY_BACKGROUND=on no call is needed. Again after that, and in fork's child.
// Invariant: what is live stays live and the heap sound. Time decides only when a wait that never ends is given up.
// Must not know: how magazines are emptied, and by whom.

#include "cpus.hpp"
#include "own_thread.hpp"
#include "sizes.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <time.h>
#include <array>
#include <atomic>
#include <string_view>

using namespace gr::test;

namespace {

constexpr unsigned kNever = 100;  // seconds
constexpr size_t kThreads = 8;
constexpr size_t kBlocks = 400;
constexpr uint64_t kAboutZero = 16384;  // what this program itself needs meanwhile

struct Filler {
    pthread_t thread;
    int cpu;
    size_t number;
};

std::atomic<size_t> filled = 0;
std::atomic<bool> over = false;

// Frees its own blocks and, as far as it goes, those that its neighbour made.
std::array<std::array<std::atomic<void *>, kBlocks>, kThreads> shared;

void *fill(void *argument) {
    const Filler &self = *static_cast<Filler *>(argument);
    pin(0, self.cpu);
    Random random(self.number + 1);
    std::array<void *, kBlocks> blocks;
    for (void *&block : blocks) {
        block = std::malloc(16 + random.below(2000));
        if (block == nullptr) fail("out of memory");
        std::memset(block, 0x5a, 16);
    }
    for (size_t i = 0; i < kBlocks; ++i) {
        if (i % 2 == 0)
            std::free(blocks[i]);
        else
            std::free(shared[(self.number + i) % kThreads][i].exchange(blocks[i]));
    }
    // Where there are ids each has its own as long as all are here.
    filled.fetch_add(1);
    while (!over.load()) sched_yield();
    return nullptr;
}

void fill_magazines_of_all_cpus() {
    const std::vector<int> cpus = allowed_cpus();
    filled = 0;
    over = false;
    std::array<Filler, kThreads> fillers;
    for (size_t number = 0; number < kThreads; ++number) {
        fillers[number].cpu = cpus[number % cpus.size()];
        fillers[number].number = number;
        if (pthread_create(&fillers[number].thread, nullptr, fill, &fillers[number]) != 0) fail("pthread_create");
    }
    while (filled.load() != kThreads) sched_yield();
    over = true;
    for (Filler &filler : fillers) pthread_join(filler.thread, nullptr);
    for (auto &blocks : shared)
        for (auto &block : blocks) std::free(block.exchange(nullptr));
    if (statistics()->magazine_bytes < 4 * kAboutZero) fail("the magazines are not filled: the test tests nothing");
}

bool is_lean(const gr_statistics &taken, bool in_background) {
    return taken.magazine_bytes <= kAboutZero && taken.remote_bytes == 0 &&
           (!in_background || taken.retained_bytes == 0);
}

void wait_until_lean() {
    const timespec pause = {0, 20000000};
    for (unsigned waits = 0; !is_lean(*statistics(), true); ++waits) {
        nanosleep(&pause, nullptr);
        if (waits == kNever * 50)
            fail("after %u seconds %lu bytes are in magazines, %lu remote, %lu retained", kNever,
                 statistics()->magazine_bytes, statistics()->remote_bytes, statistics()->retained_bytes);
    }
}

void fill_and_give_back(bool in_background) {
    fill_magazines_of_all_cpus();
    if (in_background) {
        wait_until_lean();
    } else {
        malloc_trim(0);
        if (!is_lean(*statistics(), false))
            fail("after malloc_trim %lu bytes are in magazines, %lu remote", statistics()->magazine_bytes,
                 statistics()->remote_bytes);
    }
    gr::black_box::require_sound_heap();
}

void require_own_thread() {
    const OwnThread thread = find_own_thread();
    if (thread.id == 0) fail("there is no thread called granary");
    // Those below 32 that can be blocked.
    constexpr uint64_t kCannotBeBlocked = uint64_t{1} << (SIGKILL - 1) | uint64_t{1} << (SIGSTOP - 1);
    constexpr uint64_t kAll = (uint64_t{1} << 31) - 1 - kCannotBeBlocked;
    if ((thread.blocked_signals & kAll) != kAll) fail("it takes signals: %lx", thread.blocked_signals);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    const bool in_background = argc == 2 && std::string_view(argv[1]) == "background";
    if (!in_background && (argc != 2 || std::string_view(argv[1]) != "trim"))
        fail("usage: idle_magazines trim|background");
    alarm(3 * kNever);
    void *const kept = std::malloc(100);
    fill_and_give_back(in_background);
    if (in_background) require_own_thread();
    fill_and_give_back(in_background);
    const pid_t child = fork();
    if (child < 0) fail("fork: %s", std::strerror(errno));
    if (child == 0) {
        if (find_own_thread().id != 0) fail("the child has the parent's thread");
        fill_and_give_back(in_background);
        if (in_background) require_own_thread();
        _exit(0);
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) fail("the child ended with status %x", status);
    std::free(kept);
}
