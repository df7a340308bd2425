// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      what blocks hold under GRANARY_JUNK and GRANARY_ZERO: every function that allocates, resizes and frees, on each
//            kind of size; by one thread, two, and after fork.
// Invariant: the environment says which bytes are expected, and with GRANARY_RETAIN nothing that is freed goes back to the
//            kernel but direct blocks.
// Must not know: how blocks are filled.
#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <new>
#include <thread>

#include "black_box.hpp"

extern "C" {
[[gnu::weak]] void free_sized(void *block, size_t size);
[[gnu::weak]] void free_aligned_sized(void *block, size_t alignment, size_t size);
[[gnu::weak]] void cfree(void *block);
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *block);
}

namespace {

using gr::black_box::opaque;

// As granary-options(7) tells.
constexpr unsigned char kAllocated = 0xa5;
constexpr unsigned char kFreed = 0x5a;
constexpr unsigned char kProgram = 0x77;
constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;
constexpr std::size_t kDirect = 2 * kMiB;  // the test's GRANARY_DIRECT

constexpr std::size_t kSizes[] = {0,        1,     16,     17,    100,     1000,        kKiB,
                                  kKiB + 1, 3000,  6000,   20000, 32767,   32 * kKiB,   32 * kKiB + 1,
                                  65536,    65537, 300000, kMiB,  kDirect, kDirect + 1, 5 * kMiB};

bool fills_new = false;
bool fills_freed = false;
unsigned char of_new = 0;
gr_heap *heap = nullptr;

void read_environment() {
    const auto is = [](const char *name, const char *value) {
        const char *const found = std::getenv(name);
        return found != nullptr && strcmp(found, value) == 0;
    };
    const bool zeroes = is("GRANARY_ZERO", "on");
    fills_new = zeroes || is("GRANARY_JUNK", "allocate") || is("GRANARY_JUNK", "all");
    fills_freed = is("GRANARY_JUNK", "free") || is("GRANARY_JUNK", "all");
    of_new = zeroes ? 0 : kAllocated;
}

// Hidden from the compiler, which knows that nobody may read a freed block.
bool holds(const void *block, std::size_t begin, std::size_t end, unsigned char byte) {
    if (begin >= end) return true;
    const unsigned char *const p = opaque(static_cast<const unsigned char *>(block)) + begin;
    return p[0] == byte && memcmp(p, p + 1, end - begin - 1) == 0;
}

std::size_t usable(void *p) { return malloc_usable_size(p); }
std::size_t usable_in_heap(void *p) { return gr_heap_usable_size(heap, p); }

using Allocate = std::function<void *(std::size_t size)>;
using Free = std::function<void(void *p, std::size_t size)>;
using Usable = std::size_t (*)(void *p);

// One that the function hands out: the first bytes are zero if it promises that, and the others as the options say. And
// again when it is freed, and when it is handed out once more.
void check(const Allocate &allocate, const Free &release, Usable usable_size, bool zeroes) {
    for (const std::size_t size : kSizes) {
        auto *const p = static_cast<unsigned char *>(allocate(size));
        GR_REQUIRE(p != nullptr);
        const std::size_t bytes = usable_size(p);
        GR_REQUIRE(bytes >= size);
        if (zeroes) GR_REQUIRE(holds(p, 0, size, 0));
        if (fills_new) GR_REQUIRE(holds(p, zeroes ? size : 0, bytes, of_new));
        memset(p, kProgram, bytes);
        release(p, size);
        // A direct block is gone.
        if (bytes > kDirect) continue;
        if (fills_freed) GR_REQUIRE(holds(p, 0, bytes, kFreed));
        void *const again = allocate(size);
        if (again == p && fills_freed && !fills_new && !zeroes) GR_REQUIRE(holds(again, 0, bytes, kFreed));
        release(again, size);
    }
}

void check(const Allocate &allocate, bool zeroes = false) {
    check(
        allocate, [](void *p, std::size_t) { free(p); }, usable, zeroes);
}

void check_allocating() {
    check([](std::size_t size) { return malloc(size); });
    check([](std::size_t size) { return calloc(1, size); }, true);
    check([](std::size_t size) { return calloc(size, 1); }, true);
    check([](std::size_t size) { return realloc(nullptr, size); });
    check([](std::size_t size) { return reallocarray(nullptr, 1, size); });
    check([](std::size_t size) { return valloc(size); });
    check([](std::size_t size) { return pvalloc(size); });
    check([](std::size_t size) { return __libc_malloc(size); });
    check([](std::size_t size) { return __libc_calloc(1, size); }, true);
    check([](std::size_t size) { return __libc_realloc(nullptr, size); });
    for (std::size_t alignment = 8; alignment <= kMiB; alignment *= 8) {
        check([=](std::size_t size) { return memalign(alignment, size); });
        check([=](std::size_t size) { return aligned_alloc(alignment, size); });
        check([=](std::size_t size) { return __libc_memalign(alignment, size); });
        check([=](std::size_t size) {
            void *p = nullptr;
            return posix_memalign(&p, alignment, size) == 0 ? p : nullptr;
        });
    }
}

void check_freeing() {
    const Allocate allocate = [](std::size_t size) { return malloc(size); };
    check(
        allocate, [](void *p, std::size_t) { __libc_free(p); }, usable, false);
    check(
        allocate, [](void *p, std::size_t) { GR_REQUIRE(realloc(p, 0) == nullptr); }, usable, false);
    if (opaque(&free_sized) != nullptr) {
        check(
            allocate, [](void *p, std::size_t size) { free_sized(p, size); }, usable, false);
        check([](std::size_t size) { return aligned_alloc(64, size); },
              [](void *p, std::size_t size) { free_aligned_sized(p, 64, size); }, usable, false);
        check(
            allocate, [](void *p, std::size_t) { cfree(p); }, usable, false);
    }
}

void check_operators() {
    constexpr std::align_val_t kAlignment{256};
    check([](std::size_t size) { return ::operator new(size); }, [](void *p, std::size_t) { ::operator delete(p); },
          usable, false);
    check([](std::size_t size) { return ::operator new[](size); },
          [](void *p, std::size_t size) { ::operator delete[](p, size); }, usable, false);
    check([](std::size_t size) { return ::operator new(size, std::nothrow); },
          [](void *p, std::size_t size) { ::operator delete(p, size); }, usable, false);
    check([](std::size_t size) { return ::operator new[](size, std::nothrow); },
          [](void *p, std::size_t) { ::operator delete[](p, std::nothrow); }, usable, false);
    check([=](std::size_t size) { return ::operator new(size, kAlignment); },
          [=](void *p, std::size_t) { ::operator delete(p, kAlignment); }, usable, false);
    check([=](std::size_t size) { return ::operator new[](size, kAlignment); },
          [=](void *p, std::size_t size) { ::operator delete[](p, size, kAlignment); }, usable, false);
}

void check_heap() {
    heap = gr_heap_new(0);
    GR_REQUIRE(heap != nullptr);
    const Free release = [](void *p, std::size_t) { gr_heap_free(heap, p); };
    check([](std::size_t size) { return gr_heap_malloc(heap, size); }, release, usable_in_heap, false);
    check([](std::size_t size) { return gr_heap_calloc(heap, 1, size); }, release, usable_in_heap, true);
    check([](std::size_t size) { return gr_heap_aligned_alloc(heap, 64, size); }, release, usable_in_heap, false);
    check([](std::size_t size) { return gr_heap_realloc(heap, nullptr, size); }, release, usable_in_heap, false);
    gr_heap_destroy(heap);
}

using Resize = void *(*)(void *p, std::size_t size);

void check_resizing(const Allocate &allocate, Resize resize, const Free &release, Usable usable_size) {
    for (const std::size_t from : kSizes) {
        for (const std::size_t to : kSizes) {
            if (to == 0) continue;
            void *const p = allocate(from);
            const std::size_t before = usable_size(p);
            memset(p, kProgram, before);
            void *const q = resize(p, to);
            GR_REQUIRE(q != nullptr);
            const std::size_t after = usable_size(q);
            const std::size_t kept = before < to ? before : to;
            GR_REQUIRE(holds(q, 0, kept, kProgram));
            if (fills_new) GR_REQUIRE(holds(q, kept, after, of_new));
            if (fills_freed && before <= kDirect && after <= kDirect) {
                GR_REQUIRE(holds(p, p == q ? after : 0, before, kFreed));
                if (p == q && !fills_new) GR_REQUIRE(holds(p, kept, before < after ? before : after, kFreed));
            }
            release(q, to);
        }
    }
}

// One thread's blocks that another frees: small ones go by other ways.
void check_threads() {
    constexpr unsigned kBlocks = 300;
    for (const std::size_t size : {24UL, 100UL, 3000UL, 70000UL}) {
        void *blocks[kBlocks];
        std::thread([&] {
            for (void *&p : blocks) {
                p = malloc(size);
                if (fills_new) GR_REQUIRE(holds(p, 0, usable(p), of_new));
                memset(p, kProgram, size);
            }
        }).join();
        const std::size_t bytes = usable(blocks[0]);
        for (void *const p : blocks) free(p);
        for (const void *const p : blocks) {
            if (fills_freed) GR_REQUIRE(holds(p, 0, bytes, kFreed));
        }
        for (void *&p : blocks) {
            p = malloc(size);
            if (fills_new) GR_REQUIRE(holds(p, 0, bytes, of_new));
        }
        for (void *const p : blocks) free(p);
    }
}

void check_all() {
    check_allocating();
    check_freeing();
    check_operators();
    check_resizing([](std::size_t size) { return malloc(size); }, realloc, [](void *p, std::size_t) { free(p); },
                   usable);
    if (gr::black_box::granary_in_use()) check_heap();
    check_threads();
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    read_environment();
    check_all();
    const pid_t child = fork();
    if (child == 0) {
        check_all();
        gr::black_box::require_sound_heap();
        _exit(0);
    }
    int status = 0;
    GR_REQUIRE(waitpid(child, &status, 0) == child && status == 0);
    gr::black_box::require_sound_heap();
    return 0;
}
