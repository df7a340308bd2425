// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      the C++ headers in a program that is compiled as C++17 without exceptions and without RTTI.
// Invariant: containers work, and what cannot be had ends the program by SIGABRT.
// Must not know: what a heap is made of.
#include "black_box.hpp"

#include <granary/heap_allocator.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <vector>

static_assert(__cplusplus < 202002L, "C++17 is what the header promises");

namespace {

// The signal that ended it, or 0.
int end_of(void (*run)(gr_heap *), gr_heap *heap) {
    const pid_t child = fork();
    if (child == 0) {
        const rlimit no_core = {0, 0};
        setrlimit(RLIMIT_CORE, &no_core);
        run(heap);
        _exit(0);
    }
    int status = 0;
    GR_REQUIRE(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    gr_heap *const heap = gr_heap_new(0);
    {
        std::vector<int, granary::heap_allocator<int>> numbers(heap);
        for (int i = 0; i < 10000; ++i) numbers.push_back(i);
        GR_REQUIRE(numbers[9999] == 9999);
    }
    GR_REQUIRE(gr::black_box::statistics(heap).live_blocks == 0);
    const auto too_many = [](gr_heap *of) {
        gr::black_box::opaque(granary::heap_allocator<int>(of).allocate(SIZE_MAX));
    };
    const auto too_large = [](gr_heap *of) {
        granary::heap_allocator<char> bytes(of);
        gr::black_box::opaque(bytes.allocate(bytes.max_size()));
    };
    GR_REQUIRE(end_of(too_many, heap) == SIGABRT);
    GR_REQUIRE(end_of(too_large, heap) == SIGABRT);
    gr_heap_destroy(heap);
}
