// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      a program whose allocations are known by function and number, and what it does when it is told to.
// Invariant: what each function holds at the end, and held at the peak, is what profile.py says.
// Must not know: how a profile is written.
#include <granary/profile.h>

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

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
