// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program whose allocations are known by function and number, and what it does when it is told to.
// Invariant: what each function holds at the end, and held at the peak, is what profile.py says.
// Must not know: how a profile is written.
#include <granary/profile.h>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>
#include <vector>

#include "black_box.hpp"

#pragma weak gr_profile_dump
#pragma weak gr_profile_start
#pragma weak gr_profile_stop
#pragma weak gr_profile_reset

namespace {

void *kept[20000];
std::size_t kept_count = 0;

void keep(void *p) { kept[kept_count++] = p; }

}  // namespace

// By name, from outside. What follows a call keeps it from being the last.
#define FUNCTION extern "C" __attribute__((noinline, visibility("default"))) void
#define NOT_LAST asm volatile("")

FUNCTION small_blocks() {
    for (unsigned i = 0; i < 1000; ++i) keep(malloc(100));
    for (unsigned i = 0; i < 400; ++i) free(kept[--kept_count]);
    NOT_LAST;
}

FUNCTION tiny_blocks() {
    for (unsigned i = 0; i < 40; ++i) keep(malloc(i % 4));
    NOT_LAST;
}

FUNCTION coarse_blocks() {
    for (unsigned i = 0; i < 100; ++i) keep(malloc(5000));
    for (unsigned i = 0; i < 10; ++i) free(kept[--kept_count]);
    NOT_LAST;
}

FUNCTION zeroed_blocks() {
    for (unsigned i = 0; i < 50; ++i) keep(calloc(10, 20));
    keep(calloc(1, 3 << 20));
    keep(calloc(3, 2000));
    NOT_LAST;
}

FUNCTION aligned_blocks() {
    keep(memalign(256, 1000));
    keep(aligned_alloc(4096, 8192));
    void *p = nullptr;
    GR_REQUIRE(posix_memalign(&p, 64, 700) == 0);
    keep(p);
    keep(memalign(1 << 20, 300000));
    GR_REQUIRE(reinterpret_cast<std::uintptr_t>(p) % 64 == 0);
    free(valloc(500));
    NOT_LAST;
}

FUNCTION grown_block() {
    void *p = malloc(80);
    memset(p, 1, 80);
    for (const std::size_t size : {160UL, 5000UL, 200000UL, 50UL << 20, 70UL << 20, 90000UL, 640UL}) {
        p = realloc(p, size);
        for (unsigned i = 0; i < 80; ++i) GR_REQUIRE(static_cast<char *>(p)[i] == 1);
        GR_REQUIRE(malloc_usable_size(p) >= size);
        GR_REQUIRE(gr_owns(p) == 1);
    }
    GR_REQUIRE(realloc(p, gr::black_box::opaque(SIZE_MAX / 2 + 5)) == nullptr && errno == ENOMEM);
    keep(p);
    NOT_LAST;
}

FUNCTION operators() {
    keep(::operator new(111));
    keep(::operator new(222, std::nothrow));
    keep(::operator new[](333));
    keep(::operator new (444, std::align_val_t{128}));
    ::operator delete(::operator new(555));
    ::operator delete (::operator new (666, std::align_val_t{64}), std::align_val_t{64});
    NOT_LAST;
}

FUNCTION large_blocks() {
    for (unsigned i = 0; i < 10; ++i) keep(malloc(100000));
    for (unsigned i = 0; i < 4; ++i) free(kept[--kept_count]);
    void *const direct = malloc(64 << 20);
    free(direct);
    NOT_LAST;
}

FUNCTION at_the_peak() {
    void *const most = malloc(200 << 20);
    free(most);
    NOT_LAST;
}

FUNCTION for_another_thread(std::vector<void *> *blocks) {
    for (void *&p : *blocks) p = malloc(1234);
    NOT_LAST;
}

FUNCTION in_a_child() {
    for (unsigned i = 0; i < 30; ++i) keep(malloc(2000));
    NOT_LAST;
}

FUNCTION many_small_blocks() {
    for (unsigned i = 0; i < 15000; ++i) keep(malloc(100));
    for (unsigned i = 0; i < 2'000'000; ++i) free(malloc(80));
    NOT_LAST;
}

namespace {

void script() {
    small_blocks();
    tiny_blocks();
    coarse_blocks();
    zeroed_blocks();
    aligned_blocks();
    at_the_peak();
    grown_block();
    operators();
    large_blocks();
    std::vector<void *> blocks(500);
    std::thread([&] { for_another_thread(&blocks); }).join();
    for (void *const p : blocks) free(p);
}

void dump(const char *path) {
    const int errno_before = errno = 99;
    GR_REQUIRE(gr_profile_dump(path) == 0);
    GR_REQUIRE(errno == errno_before);
}

// Begins, pauses and begins anew while the program runs.
void switch_it(const char *path) {
    small_blocks();
    const int errno_before = errno = 99;
    GR_REQUIRE(gr_profile_start(1) == 0 && errno == errno_before);
    coarse_blocks();
    large_blocks();
    GR_REQUIRE(gr_profile_stop() == 0 && gr_profile_stop() == 0);
    zeroed_blocks();
    aligned_blocks();
    operators();
    grown_block();
    GR_REQUIRE(gr_profile_start(0) == 0);
    tiny_blocks();
    dump(path);
}

void reset_it(const char *path) {
    small_blocks();
    void *const sampled = malloc(100);
    void *const large = malloc(100000);
    void *const moved = malloc(80);
    GR_REQUIRE(gr_profile_reset() == 0);
    coarse_blocks();
    free(sampled);
    free(realloc(large, 300000));
    free(realloc(moved, 5000));
    dump(path);
}

// Whatever is in a block stays there, wherever it lies, and however often it is switched.
void storm() {
    std::atomic<bool> over{false};
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t) {
        threads.emplace_back([&over, t] {
            std::vector<unsigned char *> blocks(200);
            std::uint64_t random = t + 1;
            while (!over) {
                random = random * 6364136223846793005 + 1442695040888963407;
                unsigned char *&p = blocks[(random >> 33) % blocks.size()];
                const std::size_t size = 1 + (random >> 45) % ((random >> 20) % 16 == 0 ? 100000 : 600);
                const auto byte = static_cast<unsigned char>(reinterpret_cast<std::uintptr_t>(&p) >> 3);
                if (p != nullptr) GR_REQUIRE(*p == byte);
                if ((random >> 25) % 4 == 0) {
                    p = static_cast<unsigned char *>(realloc(p, size));
                } else {
                    free(p);
                    p = static_cast<unsigned char *>((random >> 25) % 4 == 1 ? calloc(1, size) : malloc(size));
                }
                *p = byte;
            }
            for (unsigned char *const p : blocks) free(p);
        });
    }
    for (unsigned i = 0; i < 600; ++i) {
        GR_REQUIRE(gr_profile_start(i % 8 == 7 ? 1 + i : 0) == 0);
        usleep(200);
        if (i % 3 == 0) GR_REQUIRE(gr_profile_reset() == 0);
        if (i % 2 == 0) GR_REQUIRE(gr_profile_stop() == 0);
        if (i % 100 == 0) dump("storm.gz");
        if (i % 50 != 0) continue;
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            GR_REQUIRE(gr_profile_start(1) == 0 && gr_profile_reset() == 0);
            in_a_child();
            dump("child.gz");
            _exit(0);
        }
        int status = 0;
        GR_REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    }
    over = true;
    for (std::thread &thread : threads) thread.join();
    GR_REQUIRE(gr_profile_start(1) == 0 && gr_profile_reset() == 0);
    small_blocks();
    dump("last.gz");
}

int error_of(int result) { return result == 0 ? 0 : errno; }

void print_errors() {
    printf("%d %d\n", error_of(gr_profile_stop()), error_of(gr_profile_reset()));
    printf("%d\n", error_of(gr_profile_start((std::size_t{1} << 40) + 1)));
    printf("%d\n", error_of(gr_profile_start(std::size_t{1} << 40)));
    printf("%d %d\n", error_of(gr_profile_stop()), error_of(gr_profile_reset()));
}

int dump_error(const char *path) { return gr_profile_dump(path) == 0 ? 0 : errno; }

void wait_for_input() {
    puts("ready");
    fflush(stdout);
    char c = 0;
    while (read(0, &c, 1) < 0 && errno == EINTR) {
    }
}

}  // namespace

int main(int count, char **words) {
    gr::black_box::require_granary();
    const char *const what = count > 1 ? words[1] : "";
    const char *const path = count > 2 ? words[2] : nullptr;
    if (strcmp(what, "script") == 0) {
        script();
        dump(path);
        wait_for_input();
    } else if (strcmp(what, "sampled") == 0) {
        many_small_blocks();
        dump(path);
    } else if (strcmp(what, "switch") == 0) {
        switch_it(path);
        wait_for_input();
    } else if (strcmp(what, "reset") == 0) {
        reset_it(path);
    } else if (strcmp(what, "storm") == 0) {
        storm();
    } else if (strcmp(what, "errors") == 0) {
        print_errors();
    } else if (strcmp(what, "megabytes") == 0) {
        for (unsigned i = 0; i < 100; ++i) free(malloc(100000));
    } else if (strcmp(what, "signal") == 0) {
        small_blocks();
        wait_for_input();
    } else if (strcmp(what, "children") == 0) {
        small_blocks();
        const pid_t child = fork();
        if (child == 0) {
            in_a_child();
            _exit(dump_error(nullptr));
        }
        int status = 0;
        GR_REQUIRE(waitpid(child, &status, 0) == child && status == 0);
        dump(nullptr);
    } else {
        printf("%d\n", dump_error(path));
    }
    GR_REQUIRE(gr_debug_check() == nullptr);
    return 0;
}
