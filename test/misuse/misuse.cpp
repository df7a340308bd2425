// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one misuse of the heap a run (the first argument names it); misuse.py compares what is said about it.
// Invariant: every line on standard output is a message that would be right; the misuse comes after them.
// Must not know: how a misuse is found.
#include "black_box.hpp"

#include <malloc.h>
#include <sched.h>
#include <sys/mman.h>
#include <barrier>
#include <cstddef>
#include <new>
#include <thread>
#include <vector>

namespace {

using gr::black_box::opaque;
using gr::black_box::say;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kSmall = 200;
constexpr std::size_t kLarge = kMiB;
constexpr std::size_t kDirect = 64 * kMiB;
// More than a magazine can hold of one class.
constexpr std::size_t kMany = 300;

// The messages. Written without allocating, so that nothing comes between two frees.
void expect_foreign(const char *entry, const void *pointer) {
    say(STDOUT_FILENO,
        "granary: %s(%p): not a block of this heap: a foreign pointer, or a large block that is already free; "
        "aborting\n",
        entry, pointer);
}

void expect_inside(const char *entry, const void *pointer, const void *block) {
    say(STDOUT_FILENO, "granary: %s(%p): inside a block: it starts at %p and has %zu bytes; aborting\n", entry, pointer,
        block, malloc_usable_size(const_cast<void *>(block)));
}

void expect_twice(const char *entry, void *block) {
    say(STDOUT_FILENO, "granary: %s(%p): freed twice, a block of %zu bytes; aborting\n", entry, block,
        malloc_usable_size(block));
}

void expect_free(const char *entry, const void *pointer, std::size_t size) {
    say(STDOUT_FILENO,
        "granary: %s(%p): a free block of %zu bytes: it was freed before, or never handed out; aborting\n", entry,
        pointer, size);
}

void pin(unsigned cpu) {
    cpu_set_t allowed;
    cpu_set_t only;
    CPU_ZERO(&only);
    CPU_SET(cpu, &only);
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_ISSET(cpu, &allowed)) {
        sched_setaffinity(0, sizeof only, &only);
    }
}

char *block_of(std::size_t size) {
    char *block = static_cast<char *>(std::malloc(size));
    std::memset(block, 1, size);
    return opaque(block);
}

// Blocks of one class; those not freed keep their superblock in use.
struct Neighbours {
    char *blocks[kMany];

    Neighbours() {
        for (char *&block : blocks) {
            block = block_of(kSmall);
        }
    }
    void free_all_but(std::size_t kept) {
        for (std::size_t i = 0; i < kMany; ++i) {
            if (i != kept) {
                std::free(blocks[i]);
            }
        }
    }
};

void free_as_foreign(void *pointer) {
    expect_foreign("free", pointer);
    std::free(opaque(pointer));
}

void free_stack() {
    char local[64] = {};
    free_as_foreign(local + 16);
}

char static_object[64];
void free_static() { free_as_foreign(static_object); }

void free_code() { free_as_foreign(reinterpret_cast<void *>(&free_static)); }

void free_foreign_mapping() {
    void *mapping = mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    free_as_foreign(mapping);
}

void free_low_address() { free_as_foreign(reinterpret_cast<void *>(uintptr_t{16})); }

void free_high_address() { free_as_foreign(reinterpret_cast<void *>(~uintptr_t{0} << 4)); }

// Inside the reserved region, well beyond what was ever handed out.
void free_wild() {
    char *block = block_of(kSmall);
    const gr_statistics taken = gr::black_box::statistics();
    const uint64_t distance = taken.heap_bytes + (taken.reserved_bytes - taken.heap_bytes) / 2;
    GR_REQUIRE(distance > taken.heap_bytes);
    free_as_foreign(block + distance / 65536 * 65536);
}

void free_large_twice() {
    char *block = block_of(kLarge);
    std::free(block);
    free_as_foreign(block);
}

void free_direct_twice() {
    char *block = block_of(kDirect);
    std::free(block);
    free_as_foreign(block);
}

void free_small_twice() {
    char *block = block_of(kSmall);
    expect_twice("free", block);
    std::free(block);
    std::free(opaque(block));
}

void free_smallest_twice() {
    char *block = block_of(1);
    expect_twice("free", block);
    std::free(block);
    std::free(opaque(block));
}

void free_largest_class_twice() {
    [[maybe_unused]] char *keeps_the_superblock = block_of(32768);
    char *block = block_of(32768);
    expect_twice("free", block);
    std::free(block);
    std::free(opaque(block));
}

void free_small_twice_with_others_between() {
    Neighbours others;
    char *block = others.blocks[150];
    expect_twice("free", block);
    std::free(block);
    for (std::size_t i = 0; i < 10; ++i) {
        std::free(others.blocks[i]);
    }
    std::free(opaque(block));
    malloc_trim(0);
}

void free_small_twice_then_fill() {
    Neighbours others;
    char *block = others.blocks[150];
    expect_twice("free", block);
    std::free(block);
    std::free(others.blocks[0]);
    std::free(opaque(block));
    others.blocks[0] = block_of(kLarge);
    others.free_all_but(150);
    malloc_trim(0);
}

void free_twice_after_flush() {
    Neighbours others;
    char *block = others.blocks[150];
    expect_twice("free", block);
    std::free(block);
    malloc_trim(0);
    std::free(opaque(block));
    malloc_trim(0);
}

// Each thread on a CPU of its own, where there are two: the block lies in two magazines until both are flushed.
void free_twice_by_two_threads() {
    Neighbours others;
    char *block = others.blocks[150];
    expect_twice("free", block);
    std::barrier<> step(2);
    std::thread first([&] {
        pin(0);
        std::free(block);
        step.arrive_and_wait();
        step.arrive_and_wait();
        malloc_trim(0);
    });
    std::thread second([&] {
        pin(1);
        step.arrive_and_wait();
        std::free(opaque(block));
        step.arrive_and_wait();
        malloc_trim(0);
    });
    first.join();
    second.join();
    malloc_trim(0);
}

void free_twice_one_thread_after_another() {
    Neighbours others;
    char *block = others.blocks[150];
    expect_twice("free", block);
    for (int i = 0; i < 2; ++i) {
        std::thread([&] {
            std::free(opaque(block));
            malloc_trim(0);
        }).join();
    }
}

void free_inside(std::size_t distance) {
    Neighbours others;
    char *block = others.blocks[150];
    expect_inside("free", block + distance, block);
    std::free(opaque(block + distance));
    others.free_all_but(150);
    malloc_trim(0);
}

void free_inside_small() { free_inside(16); }
void free_inside_small_end() { free_inside(kSmall / 16 * 16); }

// Nothing is freed after it, and nothing trimmed: at once or never.
void free_unaligned(std::size_t size, std::size_t distance) {
    char *block = block_of(size);
    expect_inside("free", block + distance, block);
    expect_foreign("free", block + distance);
    std::free(opaque(block + distance));
}
void free_unaligned_by_1() { free_unaligned(kSmall, 1); }
void free_unaligned_by_2() { free_unaligned(kSmall, 2); }
void free_unaligned_by_4() { free_unaligned(kSmall, 4); }
void free_unaligned_by_8() { free_unaligned(kSmall, 8); }
void free_unaligned_end() { free_unaligned(kSmall, kSmall - 1); }
void free_unaligned_smallest() { free_unaligned(1, 8); }
void free_unaligned_largest_class() { free_unaligned(32768, 20008); }
void free_unaligned_large() { free_unaligned(kLarge, 70001); }
void free_unaligned_direct() { free_unaligned(kDirect, 8); }

// A foreign block for that thread, where there are two CPUs.
void free_unaligned_by_another_thread() {
    pin(0);
    char *block = block_of(kSmall);
    expect_inside("free", block + 8, block);
    std::thread([&] {
        pin(1);
        std::free(opaque(block + 8));
    }).join();
}

// Others of its size are freed after it, which a flush takes first. None is allocated, so no call gets it meanwhile.
void free_inside_under_others(std::size_t size) {
    std::vector<char *> others(5000);
    for (char *&other : others) {
        other = block_of(size);
    }
    char *block = block_of(size);
    expect_inside("free", block + 16, block);
    std::free(opaque(block + 16));
    for (char *other : others) {
        std::free(other);
    }
}
void free_inside_under_others_of_64() { free_inside_under_others(64); }
void free_inside_under_others_of_200() { free_inside_under_others(kSmall); }
void free_inside_under_others_of_6000() { free_inside_under_others(6000); }

void free_inside_of(std::size_t size, std::size_t distance) {
    char *block = block_of(size);
    expect_inside("free", block + distance, block);
    expect_foreign("free", block + distance);
    std::free(opaque(block + distance));
    malloc_trim(0);
}

void free_inside_large() { free_inside_of(kLarge, 4096); }
void free_inside_large_unit() { free_inside_of(kLarge, 65536); }
void free_inside_direct() { free_inside_of(kDirect, 4096); }

void realloc_stack() {
    char local[64] = {};
    expect_foreign("realloc", local);
    opaque(std::realloc(opaque<void *>(local), 100));
}

void aligned_realloc_stack() {
    char local[64] = {};
    expect_foreign("gr_aligned_realloc", local);
    opaque(gr_aligned_realloc(opaque<void *>(local), 64, 100));
}

void aligned_realloc_inside_small() {
    char *block = block_of(kSmall);
    expect_inside("gr_aligned_realloc", block + 16, block);
    opaque(gr_aligned_realloc(opaque(block + 16), 64, kLarge));
}

void resize_in_place_stack() {
    char local[64] = {};
    expect_foreign("gr_resize_in_place", local);
    opaque(gr_resize_in_place(opaque<void *>(local), 100, 100));
}

void resize_in_place_inside_large() {
    char *block = block_of(kLarge);
    expect_inside("gr_resize_in_place", block + 4096, block);
    opaque(gr_resize_in_place(opaque(block + 4096), 100, 100));
}

void resize_in_place_freed(std::size_t size) {
    char *block = block_of(size);
    std::free(block);
    expect_foreign("gr_resize_in_place", block);
    opaque(gr_resize_in_place(opaque(block), size, size));
}
void resize_in_place_freed_large() { resize_in_place_freed(kLarge); }
void resize_in_place_freed_direct() { resize_in_place_freed(kDirect); }

void realloc_freed_large() {
    char *block = block_of(kLarge);
    std::free(block);
    expect_foreign("realloc", block);
    opaque(std::realloc(opaque(block), 2 * kLarge));
}

void realloc_freed_direct() {
    char *block = block_of(kDirect);
    std::free(block);
    expect_foreign("realloc", block);
    opaque(std::realloc(opaque(block), 2 * kDirect));
}

// A pointer inside a small block may go unnoticed until it has gone through a magazine.
void realloc_inside_small() {
    Neighbours others;
    char *block = others.blocks[150];
    expect_inside("realloc", block + 16, block);
    expect_inside("free", block + 16, block);
    opaque(std::realloc(opaque(block + 16), 4000));
    malloc_trim(0);
}

void realloc_unaligned() {
    char *block = block_of(kSmall);
    expect_inside("realloc", block + 8, block);
    opaque(std::realloc(opaque(block + 8), 4000));
}

void usable_size_unaligned() {
    char *block = block_of(kSmall);
    expect_inside("malloc_usable_size", block + 8, block);
    opaque(malloc_usable_size(opaque(block + 8)));
}

// The start of a block that was never handed out, beside one in use: blocks are handed out from the lowest address on.
constexpr std::size_t kDividesUnits = 64;
char *never_handed_out() {
    constexpr std::uintptr_t kUnit = std::uintptr_t{64} << 10;
    const auto block = reinterpret_cast<std::uintptr_t>(block_of(kDividesUnits));
    return opaque(reinterpret_cast<char *>((block & ~(kUnit - 1)) + kUnit - 16 * kDividesUnits));
}

void realloc_never_handed_out() {
    char *block = never_handed_out();
    expect_free("realloc", block, kDividesUnits);
    opaque(std::realloc(opaque(block), 4000));
}

void usable_size_never_handed_out() {
    char *block = never_handed_out();
    expect_free("malloc_usable_size", block, kDividesUnits);
    opaque(malloc_usable_size(opaque(block)));
}

void free_never_handed_out() {
    char *block = never_handed_out();
    say(STDOUT_FILENO, "granary: free(%p): freed twice, a block of %zu bytes; aborting\n", static_cast<void *>(block),
        kDividesUnits);
    std::free(opaque(block));
    malloc_trim(0);
}

void reallocarray_static() {
    expect_foreign("reallocarray", static_object);
    expect_foreign("realloc", static_object);
    opaque(reallocarray(opaque<void *>(static_object), 10, 10));
}

void usable_size_static() {
    expect_foreign("malloc_usable_size", static_object);
    opaque(malloc_usable_size(opaque<void *>(static_object)));
}

void usable_size_freed_large() {
    char *block = block_of(kLarge);
    std::free(block);
    expect_foreign("malloc_usable_size", block);
    opaque(malloc_usable_size(opaque(block)));
}

// A delete may call itself by its own name or by free's.
void delete_static() {
    expect_foreign("operator delete", static_object);
    expect_foreign("free", static_object);
    ::operator delete(opaque<void *>(static_object));
}

void delete_unaligned() {
    char *block = static_cast<char *>(::operator new(kSmall));
    expect_inside("free", block + 8, block);
    ::operator delete(opaque(block + 8));
}

void delete_sized_unaligned() {
    char *block = static_cast<char *>(::operator new(kSmall));
    expect_inside("free", block + 8, block);
    ::operator delete(opaque(block + 8), kSmall);
}

void delete_array_twice() {
    void *block = ::operator new[](kSmall);
    expect_twice("operator delete[]", block);
    expect_twice("operator delete", block);
    expect_twice("free", block);
    ::operator delete[](block);
    ::operator delete[](opaque(block));
}

// First-class heaps.
void expect_of_malloc(const char *entry, const void *pointer) {
    say(STDOUT_FILENO, "granary: %s(%p): not a block of this heap but of malloc: release it with free; aborting\n",
        entry, pointer);
}

void expect_of_heap(const char *entry, const void *pointer) {
    say(STDOUT_FILENO,
        "granary: %s(%p): not a block of this heap but of another heap: release it with gr_heap_free and that "
        "heap; aborting\n",
        entry, pointer);
}

void expect_no_heap(const void *heap) {
    say(STDOUT_FILENO,
        "granary: gr_heap_destroy(%p): not a heap that gr_heap_new returned, or already destroyed; aborting\n", heap);
}

void expect_twice_in(gr_heap *heap, void *block) {
    say(STDOUT_FILENO, "granary: gr_heap_free(%p): freed twice, a block of %zu bytes; aborting\n", block,
        gr_heap_usable_size(heap, block));
}

gr_heap *new_heap() {
    gr_heap *heap = gr_heap_new(0);
    GR_REQUIRE(heap != nullptr);
    return heap;
}

char *block_in(gr_heap *heap, std::size_t size) {
    char *block = static_cast<char *>(gr_heap_malloc(heap, size));
    std::memset(block, 1, size);
    return opaque(block);
}

void heap_free_of_malloc(std::size_t size) {
    char *block = block_of(size);
    expect_of_malloc("gr_heap_free", block);
    gr_heap_free(new_heap(), block);
}
void heap_free_small_of_malloc() { heap_free_of_malloc(kSmall); }
void heap_free_large_of_malloc() { heap_free_of_malloc(kLarge); }
void heap_free_direct_of_malloc() { heap_free_of_malloc(kDirect); }

void heap_free_of_another(std::size_t size) {
    char *block = block_in(new_heap(), size);
    expect_of_heap("gr_heap_free", block);
    gr_heap_free(new_heap(), block);
}
void heap_free_small_of_another() { heap_free_of_another(kSmall); }
void heap_free_large_of_another() { heap_free_of_another(kLarge); }
void heap_free_direct_of_another() { heap_free_of_another(kDirect); }

void heap_free_stack() {
    char local[64] = {};
    expect_foreign("gr_heap_free", local + 16);
    gr_heap_free(new_heap(), opaque(local + 16));
}

void free_of_heap(std::size_t size) {
    char *block = block_in(new_heap(), size);
    expect_of_heap("free", block);
    std::free(block);
}
void free_small_of_heap() { free_of_heap(kSmall); }
void free_large_of_heap() { free_of_heap(kLarge); }
void free_direct_of_heap() { free_of_heap(kDirect); }

void delete_of_heap() {
    char *block = block_in(new_heap(), kSmall);
    expect_of_heap("operator delete", block);
    expect_of_heap("free", block);
    ::operator delete(block);
}

void realloc_of_heap() {
    char *block = block_in(new_heap(), kSmall);
    expect_of_heap("realloc", block);
    opaque(std::realloc(block, kLarge));
}

void heap_realloc_of_malloc() {
    char *block = block_of(kSmall);
    expect_of_malloc("gr_heap_realloc", block);
    opaque(gr_heap_realloc(new_heap(), block, kLarge));
}

void heap_usable_size_of_malloc() {
    char *block = block_of(kSmall);
    expect_of_malloc("gr_heap_usable_size", block);
    opaque(gr_heap_usable_size(new_heap(), block));
}

void heap_aligned_realloc_of_malloc() {
    char *block = block_of(kSmall);
    expect_of_malloc("gr_heap_aligned_realloc", block);
    opaque(gr_heap_aligned_realloc(new_heap(), block, 64, kLarge));
}

void heap_resize_in_place_of_malloc() {
    char *block = block_of(kLarge);
    expect_of_malloc("gr_heap_resize_in_place", block);
    opaque(gr_heap_resize_in_place(new_heap(), block, 1, 1));
}

void resize_in_place_of_heap() {
    char *block = block_in(new_heap(), kLarge);
    expect_of_heap("gr_resize_in_place", block);
    opaque(gr_resize_in_place(block, 1, 1));
}

void heap_free_twice(std::size_t size) {
    gr_heap *heap = new_heap();
    char *block = block_in(heap, size);
    expect_twice_in(heap, block);
    expect_foreign("gr_heap_free", block);
    gr_heap_free(heap, block);
    gr_heap_free(heap, opaque(block));
}
void heap_free_small_twice() { heap_free_twice(kSmall); }
void heap_free_large_twice() { heap_free_twice(kLarge); }
void heap_free_direct_twice() { heap_free_twice(kDirect); }

void heap_free_unaligned() {
    gr_heap *heap = new_heap();
    char *block = block_in(heap, kSmall);
    say(STDOUT_FILENO, "granary: gr_heap_free(%p): inside a block: it starts at %p and has %zu bytes; aborting\n",
        static_cast<void *>(block + 8), static_cast<void *>(block), gr_heap_usable_size(heap, block));
    gr_heap_free(heap, opaque(block + 8));
}

// Found when the magazine is flushed, and named after the function that must have been called.
void heap_free_twice_with_others_between() {
    gr_heap *heap = new_heap();
    char *block = block_in(heap, kSmall);
    char *other = block_in(heap, kSmall);
    expect_twice_in(heap, block);
    for (char *each : {block, other, block}) gr_heap_free(heap, opaque(each));
    gr_heap_trim(heap, 0);
}

// By the blocks of its own, for the heap's pages are gone.
void heap_free_after_destroy() {
    gr_heap *heap = new_heap();
    char *block = block_in(heap, kSmall);
    gr_heap_destroy(heap);
    expect_foreign("gr_heap_free", block);
    gr_heap_free(new_heap(), opaque(block));
}

void heap_destroy_twice() {
    gr_heap *heap = new_heap();
    expect_no_heap(heap);
    gr_heap_destroy(heap);
    gr_heap_destroy(opaque(heap));
}

void heap_destroy_of_block() {
    char *block = block_of(kSmall);
    expect_no_heap(block);
    gr_heap_destroy(reinterpret_cast<gr_heap *>(block));
}

struct Case {
    const char *name;
    void (*run)();
};

#define CASE(function) \
    Case { #function, function }
constexpr Case kCases[] = {
    CASE(free_stack),
    CASE(free_static),
    CASE(free_code),
    CASE(free_foreign_mapping),
    CASE(free_low_address),
    CASE(free_high_address),
    CASE(free_wild),
    CASE(free_large_twice),
    CASE(free_direct_twice),
    CASE(free_small_twice),
    CASE(free_smallest_twice),
    CASE(free_largest_class_twice),
    CASE(free_small_twice_with_others_between),
    CASE(free_small_twice_then_fill),
    CASE(free_twice_after_flush),
    CASE(free_twice_by_two_threads),
    CASE(free_twice_one_thread_after_another),
    CASE(free_inside_small),
    CASE(free_inside_small_end),
    CASE(free_unaligned_by_1),
    CASE(free_unaligned_by_2),
    CASE(free_unaligned_by_4),
    CASE(free_unaligned_by_8),
    CASE(free_unaligned_end),
    CASE(free_unaligned_smallest),
    CASE(free_unaligned_largest_class),
    CASE(free_unaligned_large),
    CASE(free_unaligned_direct),
    CASE(free_unaligned_by_another_thread),
    CASE(free_inside_under_others_of_64),
    CASE(free_inside_under_others_of_200),
    CASE(free_inside_under_others_of_6000),
    CASE(free_inside_large),
    CASE(free_inside_large_unit),
    CASE(free_inside_direct),
    CASE(realloc_stack),
    CASE(aligned_realloc_stack),
    CASE(aligned_realloc_inside_small),
    CASE(resize_in_place_stack),
    CASE(resize_in_place_inside_large),
    CASE(resize_in_place_freed_large),
    CASE(resize_in_place_freed_direct),
    CASE(realloc_freed_large),
    CASE(realloc_freed_direct),
    CASE(realloc_inside_small),
    CASE(realloc_unaligned),
    CASE(usable_size_unaligned),
    CASE(realloc_never_handed_out),
    CASE(usable_size_never_handed_out),
    CASE(free_never_handed_out),
    CASE(reallocarray_static),
    CASE(usable_size_static),
    CASE(usable_size_freed_large),

    CASE(delete_static),
    CASE(delete_unaligned),
    CASE(delete_sized_unaligned),
    CASE(delete_array_twice),

    CASE(heap_free_small_of_malloc),
    CASE(heap_free_large_of_malloc),
    CASE(heap_free_direct_of_malloc),
    CASE(heap_free_small_of_another),
    CASE(heap_free_large_of_another),
    CASE(heap_free_direct_of_another),
    CASE(heap_free_stack),
    CASE(free_small_of_heap),
    CASE(free_large_of_heap),
    CASE(free_direct_of_heap),
    CASE(delete_of_heap),
    CASE(realloc_of_heap),
    CASE(heap_realloc_of_malloc),
    CASE(heap_usable_size_of_malloc),
    CASE(heap_aligned_realloc_of_malloc),
    CASE(heap_resize_in_place_of_malloc),
    CASE(resize_in_place_of_heap),
    CASE(heap_free_small_twice),
    CASE(heap_free_large_twice),
    CASE(heap_free_direct_twice),
    CASE(heap_free_unaligned),
    CASE(heap_free_twice_with_others_between),
    CASE(heap_free_after_destroy),
    CASE(heap_destroy_twice),
    CASE(heap_destroy_of_block),
};
#undef CASE

}  // namespace

int main(int argc, char **argv) {
    gr::black_box::require_granary();
    for (const Case &each : kCases) {
        if (argc == 2 && std::strcmp(argv[1], each.name) == 0) {
            pin(0);
            each.run();
            gr::black_box::leave(3, "the misuse was not found\n");
        }
    }
    gr::black_box::leave(2, "no such misuse: %s\n", argc == 2 ? argv[1] : "(none given)");
}
