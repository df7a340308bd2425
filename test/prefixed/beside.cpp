// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      threads that use gr_malloc and malloc at once, free each other's blocks of both, and are interrupted by
//            signals, while the process forks. The argument says whose malloc it is: other, or granary for libgranary.
// Invariant: each block belongs to the library that allocated it; no block changes and none is lost.
// Must not know: how either allocator works inside.
#include "black_box.hpp"

#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <utility>

namespace {

using gr::black_box::opaque;
using gr::black_box::Sequence;

constexpr int kThreads = 4;
constexpr int kForks = 30;
constexpr int kSignals = 2000;
constexpr std::size_t kPlaces = 256;
constexpr std::size_t kRoom = std::size_t{200} << 20;
constexpr unsigned kHangSeconds = 60;

struct Block {
    uint64_t size;
    uint64_t check;
};

// Blocks that any thread may take and free.
struct Shared {
    std::array<std::atomic<Block *>, kPlaces> places{};
};
Shared own;
Shared others;

std::atomic<bool> stop{false};

std::size_t some_size(Sequence &random) {
    const uint64_t kind = random.below(200);
    if (kind < 190) return sizeof(Block) + random.below(1000);
    return sizeof(Block) + (kind < 199 ? random.below(30'000) : random.below(300'000));
}

Block *filled(void *memory, std::size_t size) {
    GR_REQUIRE(memory != nullptr);
    auto *const block = static_cast<Block *>(memory);
    *block = {size, ~size};
    static_cast<unsigned char *>(memory)[size - 1] =
        static_cast<unsigned char>(size == sizeof(Block) ? ~size >> 56 : 7);
    return block;
}

void check(const Block *block) { GR_REQUIRE(block->check == ~block->size); }

void churn_once(Sequence &random) {
    const std::size_t place = random.below(kPlaces);
    std::size_t size = some_size(random);
    if (Block *const old = own.places[place].exchange(filled(gr_malloc(size), size))) {
        check(old);
        gr_free(old);
    }
    size = some_size(random);
    if (Block *const old = others.places[place].exchange(filled(std::malloc(size), size))) {
        check(old);
        std::free(old);
    }
    if (random.below(16) != 0) return;
    if (Block *const block = own.places[place].exchange(nullptr)) {
        const std::size_t wanted = some_size(random);
        auto *const resized = static_cast<Block *>(gr_realloc(block, wanted));
        GR_REQUIRE(resized != nullptr);
        check(resized);
        gr_free(resized);
    }
}

void *churn(void *seed) {
    Sequence random(reinterpret_cast<uint64_t>(seed));
    while (!stop.load(std::memory_order_relaxed)) churn_once(random);
    return nullptr;
}

void handler(int) {
    const int kept_errno = errno;
    void *const mine = opaque(gr_malloc(100));
    GR_REQUIRE(mine != nullptr);
    gr_free(mine);
    errno = kept_errno;
}

void *child_thread(void *) {
    Sequence random(99);
    for (int i = 0; i < 2000; ++i) churn_once(random);
    return nullptr;
}

void fork_once() {
    const pid_t child = fork();
    GR_REQUIRE(child >= 0);
    if (child == 0) {
        alarm(kHangSeconds);
        child_thread(nullptr);
        pthread_t thread;
        GR_REQUIRE(pthread_create(&thread, nullptr, child_thread, nullptr) == 0);
        pthread_join(thread, nullptr);
        _exit(gr_debug_check() == nullptr ? 0 : 1);
    }
    int status = 1;
    GR_REQUIRE(waitpid(child, &status, 0) == child);
    GR_REQUIRE(status == 0);
}

// The functions gr_* of libgranary, which are others than those that this program is linked with.
template <class Function>
Function *of_granary(const char *name, Function *own_one) {
    void *const found = dlvsym(RTLD_DEFAULT, name, "GRANARY_0");
    GR_REQUIRE(found != nullptr);
    GR_REQUIRE(reinterpret_cast<Function *>(found) != own_one);
    return reinterpret_cast<Function *>(found);
}

void expect_heaps_apart(bool is_granary) {
    GR_REQUIRE(gr_version() == GR_VERSION);
    void *const mine = opaque(gr_malloc(100));
    void *const other = opaque(std::malloc(100));
    GR_REQUIRE(gr_owns(mine) == 1);
    GR_REQUIRE(gr_owns(other) == 0);
    if (is_granary) {
        const auto owns = of_granary("gr_owns", &gr_owns);
        GR_REQUIRE(owns(mine) == 0);
        GR_REQUIRE(owns(other) == 1);
        gr_statistics theirs{};
        theirs.size = sizeof theirs;
        GR_REQUIRE(of_granary("gr_statistics_get", &gr_statistics_get)(&theirs) == 0);
        GR_REQUIRE(theirs.rseq == gr::black_box::statistics().rseq);
    } else {
        GR_REQUIRE(dlvsym(RTLD_DEFAULT, "gr_owns", "GRANARY_0") == nullptr);
    }
    gr_free(mine);
    std::free(other);
}

// Each heap has room beside the other, of its own: what finds none is mapped block by block.
template <class Allocate, class Release, class Count>
void expect_room(Allocate allocate, Release release, Count direct_count) {
    constexpr std::size_t kSize = 30'000;
    struct Linked {
        Linked *next;
        char rest[kSize - sizeof(void *)];
    };
    Linked *all = nullptr;
    for (std::size_t held = 0; held < kRoom; held += kSize) {
        auto *const block = static_cast<Linked *>(allocate(kSize));
        GR_REQUIRE(block != nullptr);
        block->next = all;
        all = block;
    }
    GR_REQUIRE(direct_count() == 0);
    while (all != nullptr) release(std::exchange(all, all->next));
}

void expect_room_for_both(bool is_granary) {
    expect_room(gr_malloc, gr_free, [] { return gr::black_box::statistics().direct_count; });
    if (!is_granary) return;
    auto *const get = of_granary("gr_statistics_get", &gr_statistics_get);
    expect_room(std::malloc, std::free, [get] {
        gr_statistics theirs{};
        theirs.size = sizeof theirs;
        GR_REQUIRE(get(&theirs) == 0);
        return theirs.direct_count;
    });
    expect_room(gr_malloc, gr_free, [] { return gr::black_box::statistics().direct_count; });
}

void release_all() {
    for (std::atomic<Block *> &place : own.places) gr_free(place.exchange(nullptr));
    for (std::atomic<Block *> &place : others.places) std::free(place.exchange(nullptr));
}

}  // namespace

int main(int argc, char **argv) {
    const bool is_granary = argc == 2 && std::strcmp(argv[1], "granary") == 0;
    expect_heaps_apart(is_granary);
    expect_room_for_both(is_granary);
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    GR_REQUIRE(sigaction(SIGUSR1, &action, nullptr) == 0);
    const gr_statistics before = gr::black_box::statistics();
    std::array<pthread_t, kThreads> threads;
    for (std::size_t i = 0; i < kThreads; ++i) {
        GR_REQUIRE(pthread_create(&threads[i], nullptr, churn, reinterpret_cast<void *>(i + 1)) == 0);
    }
    for (int i = 0; i < kForks; ++i) fork_once();
    for (int i = 0; i < kSignals; ++i) {
        GR_REQUIRE(pthread_kill(threads[static_cast<std::size_t>(i) % kThreads], SIGUSR1) == 0);
        if (i % 16 == 0) usleep(100);
    }
    stop = true;
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    release_all();
    GR_REQUIRE(gr::black_box::statistics().live_blocks == before.live_blocks);
    gr::black_box::require_sound_heap();
    if (is_granary) GR_REQUIRE(of_granary("gr_debug_check", &gr_debug_check)() == nullptr);
    expect_heaps_apart(is_granary);
    return 0;
}
