// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: thousands of first-class heaps made, used by two threads, and destroyed; one of them lives from before
//    main to the end.
// Invariant: neither mappings, nor address space, nor resident memory, nor malloc's heap grow with the cycles.
// Must not know: how many mappings a heap has.
#include "black_box.hpp"

#include <fcntl.h>
#include <barrier>
#include <thread>

namespace {

constexpr int kWarmUp = 50;
constexpr int kCycles = 3000;
constexpr int kAtOnce = 20;
constexpr std::size_t kSizes[] = {1, 100, 5000, 30000, 100000, 3000000};
constexpr std::size_t kDirect = std::size_t{33} << 20;
// Of resident memory: what the kernel's counters may be off by, and pages of malloc's own.
constexpr std::size_t kNoisePages = 512;

gr_heap *early = nullptr;
char *early_block = nullptr;
[[gnu::constructor(101)]] void before_everyone() {
    if (!gr::black_box::granary_in_use()) return;
    early = gr_heap_new(0);
    GR_REQUIRE(early != nullptr);
    early_block = static_cast<char *>(gr_heap_malloc(early, 1000));
    GR_REQUIRE(early_block != nullptr);
    std::memset(early_block, 7, 1000);
}

struct Usage {
    std::size_t mappings;
    std::size_t address_space;  // in pages, as resident
    std::size_t resident;
};

template <typename Visit>
void read_file(const char *name, Visit visit) {
    char text[4096];
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    GR_REQUIRE(file >= 0);
    for (ssize_t length; (length = read(file, text, sizeof text - 1)) > 0;) {
        text[length] = '\0';
        visit(text);
    }
    close(file);
}

Usage usage() {
    Usage now{};
    read_file("/proc/self/maps", [&](const char *text) {
        for (; *text != '\0'; ++text) now.mappings += *text == '\n' ? 1 : 0;
    });
    read_file("/proc/self/statm", [&](const char *text) {
        GR_REQUIRE(std::sscanf(text, "%zu %zu", &now.address_space, &now.resident) == 2);
    });
    return now;
}

void fill(gr_heap *heap, std::size_t size) {
    volatile char *block = static_cast<char *>(gr_heap_malloc(heap, size));
    GR_REQUIRE(block != nullptr);
    block[0] = 1;
    block[size - 1] = 1;
}

// The partner allocates from each heap that it is handed between two steps; none is its end.
gr_heap *handed = nullptr;
std::barrier<> step(2);

void partner() {
    for (;;) {
        step.arrive_and_wait();
        if (handed == nullptr) return;
        for (std::size_t size : kSizes) fill(handed, size);
        step.arrive_and_wait();
    }
}

void use(gr_heap *heap, int number) {
    for (std::size_t size : kSizes) fill(heap, size);
    if (number % 10 == 0) {
        fill(heap, kDirect);
    }
    handed = heap;
    step.arrive_and_wait();
    step.arrive_and_wait();
}

void cycle(int cycles) {
    for (int number = 0; number < cycles; ++number) {
        gr_heap *heap = gr_heap_new(number % 2 == 0 ? 0 : std::size_t{1} << 22);
        GR_REQUIRE(heap != nullptr);
        use(heap, number);
        gr_heap_destroy(heap);
    }
}

void many_at_once() {
    gr_heap *heaps[kAtOnce];
    for (int number = 0; number < kAtOnce; ++number) {
        heaps[number] = gr_heap_new(0);
        use(heaps[number], number);
    }
    for (int number = 0; number < kAtOnce; ++number) gr_heap_destroy(heaps[number * 7 % kAtOnce]);
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    if (!gr::black_box::granary_in_use()) return gr::black_box::kSkipped;
    std::thread other(partner);
    many_at_once();
    cycle(kWarmUp);
    const uint64_t live = gr::black_box::statistics().live_blocks;
    const Usage before = usage();
    cycle(kCycles);
    many_at_once();
    const Usage after = usage();
    if (after.mappings > before.mappings || after.address_space > before.address_space ||
        after.resident > before.resident + kNoisePages) {
        gr::black_box::leave(1, "%d heaps left %zd mappings, %zd pages of address space, %zd resident\n", kCycles,
                             static_cast<ssize_t>(after.mappings - before.mappings),
                             static_cast<ssize_t>(after.address_space - before.address_space),
                             static_cast<ssize_t>(after.resident - before.resident));
    }
    GR_REQUIRE(gr::black_box::statistics().live_blocks == live);
    GR_REQUIRE(gr::black_box::statistics(early).live_blocks == 1 && early_block[0] == 7 && early_block[999] == 7);
    handed = nullptr;
    step.arrive_and_wait();
    other.join();
    gr::black_box::require_sound_heap();
    return 0;
}
