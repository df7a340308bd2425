// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what every black-box test program shares: proof of whose malloc is in use, checks, a random sequence.
// Invariant: nothing here allocates, so a check never disturbs what it looks at.
// Must not know: how the allocator works inside; only the public header.
#pragma once

#include <granary/malloc.h>

#include <dlfcn.h>
#include <unistd.h>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#pragma weak gr_version
#pragma weak gr_statistics_get
#pragma weak gr_statistics_print
#pragma weak gr_statistics_every
#pragma weak gr_class_statistics_get
#pragma weak gr_trim
#pragma weak gr_owns
#pragma weak gr_good_size
#pragma weak gr_page_utilization
#pragma weak gr_on_pressure
#pragma weak gr_options_print
#pragma weak gr_option_get
#pragma weak gr_option_set
#pragma weak gr_debug_check
#pragma weak gr_heap_new
#pragma weak gr_heap_destroy
#pragma weak gr_heap_malloc
#pragma weak gr_heap_calloc
#pragma weak gr_heap_aligned_alloc
#pragma weak gr_heap_realloc
#pragma weak gr_heap_free
#pragma weak gr_heap_usable_size
#pragma weak gr_heap_trim
#pragma weak gr_heap_statistics_get
#pragma weak gr_heap_aligned_calloc
#pragma weak gr_heap_aligned_realloc
#pragma weak gr_heap_resize_in_place
#pragma weak gr_malloc
#pragma weak gr_calloc
#pragma weak gr_realloc
#pragma weak gr_reallocarray
#pragma weak gr_aligned_alloc
#pragma weak gr_posix_memalign
#pragma weak gr_malloc_usable_size
#pragma weak gr_free
#pragma weak gr_free_sized
#pragma weak gr_free_aligned_sized
#pragma weak gr_aligned_calloc
#pragma weak gr_aligned_realloc
#pragma weak gr_resize_in_place
#pragma weak gr_heap_walk

namespace gr::black_box {

// ctest reads this exit code as "skipped".
inline constexpr int kSkipped = 77;

// dprintf would allocate its buffer.
[[gnu::format(printf, 2, 0)]] inline void say(int file, const char *format, va_list arguments) {
    char line[512];
    const int length = vsnprintf(line, sizeof line, format, arguments);
    const std::size_t size = length < 0 ? 0 : static_cast<std::size_t>(length);
    if (write(file, line, size < sizeof line ? size : sizeof line - 1) < 0) _exit(2);
}

[[gnu::format(printf, 2, 3)]] inline void say(int file, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(file, format, arguments);
    va_end(arguments);
}

[[noreturn, gnu::format(printf, 2, 3)]] inline void leave(int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    say(STDERR_FILENO, format, arguments);
    va_end(arguments);
    _exit(code);
}

// GR_TEST_EXPECT=0 runs the same program on whatever malloc there is, to compare; a file's name: on the malloc that this
// library brings.
inline const char *expected_library() { return std::getenv("GR_TEST_EXPECT"); }
inline bool expect_granary() { return expected_library() == nullptr; }

inline bool granary_in_use() { return &gr_version != nullptr && gr_version() != 0; }

inline void require_library(const char *file_name) {
    Dl_info found{};
    if (dladdr(dlsym(RTLD_DEFAULT, "malloc"), &found) != 0 && found.dli_fname != nullptr) {
        const char *const slash = std::strrchr(found.dli_fname, '/');
        if (std::strcmp(slash == nullptr ? found.dli_fname : slash + 1, file_name) == 0) return;
    }
    leave(1, "malloc is of %s, not of %s: set LD_PRELOAD to it\n", found.dli_fname, file_name);
}

// The malloc that the test is about.
inline void require_granary() {
    if (expect_granary()) {
        if (!granary_in_use()) leave(1, "this program does not run on Granary: set LD_PRELOAD to libgranary.so\n");
    } else if (std::strcmp(expected_library(), "0") != 0) {
        require_library(expected_library());
    }
}

// Hides a value from the optimiser, which could otherwise prove a block unused and drop it.
template <typename T>
inline T opaque(T value) {
    asm volatile("" : "+r"(value) : : "memory");
    return value;
}

inline gr_statistics statistics() {
    gr_statistics taken{};
    taken.size = sizeof taken;
    if (gr_statistics_get(&taken) != 0) {
        leave(1, "gr_statistics_get failed on a correct request\n");
    }
    return taken;
}

inline gr_statistics statistics(gr_heap *heap) {
    gr_statistics taken{};
    taken.size = sizeof taken;
    if (gr_heap_statistics_get(heap, &taken) != 0) {
        leave(1, "gr_heap_statistics_get failed on a correct request\n");
    }
    return taken;
}

// Blocks and runs as superblocks hold them: what is live and is neither a run nor mapped directly.
inline uint64_t small_live_bytes(const gr_statistics &taken) {
    return taken.live_bytes - taken.run_bytes - taken.direct_bytes;
}

inline bool counting_equation_holds(const gr_statistics &taken) {
    return taken.block_bytes == small_live_bytes(taken) + taken.magazine_bytes + taken.remote_bytes + taken.free_bytes;
}

// The end of a test: nothing it did may have damaged the heap or made it lose count.
inline void require_sound_heap() {
    if (!granary_in_use()) return;
    if (!counting_equation_holds(statistics())) leave(1, "the counting equation does not hold\n");
    if (const char *fault = gr_debug_check()) leave(1, "gr_debug_check: %s\n", fault);
}

// A deterministic pseudo-random sequence (a counter pushed through two multiplicative mixes).
class Sequence {
  public:
    explicit Sequence(uint64_t seed) : state_(seed) {}

    uint64_t next() {
        state_ += UINT64_C(0x9E3779B97F4A7C15);
        uint64_t mixed = (state_ ^ (state_ >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
        mixed = (mixed ^ (mixed >> 32)) * UINT64_C(0xD6E8FEB86659FD93);
        return mixed ^ (mixed >> 32);
    }

    uint64_t below(uint64_t bound) { return next() % bound; }

  private:
    uint64_t state_;
};

}  // namespace gr::black_box

#define GR_REQUIRE(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            gr::black_box::leave(1, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
        }                                                                                          \
    } while (false)
