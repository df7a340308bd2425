// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/statistics.hpp"

#include "instance/statistics.hpp"
#include "platform/process.hpp"

namespace gr {
namespace {

constinit std::atomic<std::size_t> allocated{
    0};  // what clients report to have taken without a call; ordered by nothing

constinit std::atomic<std::size_t> promised{0};  // bytes of heap; ordered by nothing

constinit std::atomic<std::size_t> own{0};  // bytes; ordered by nothing

constinit std::size_t uncollectable_before = 0;  // bytes, when GC_non_gc_bytes was last updated. Guarded by the lock

// The state after the last collection. Guarded by the lock.
struct Last {
    std::size_t live = 0;
    std::size_t freed = 0;      // then, of all
    std::size_t allocated = 0;  // then, of all
    std::size_t total = 0;
    std::size_t reclaimed = 0;
    std::size_t reclaimed_ever = 0;
};
constinit Last last;

// The state when this collection began.
struct Before {
    std::size_t blocks = 0;
    std::size_t since = 0;
};
constinit Before before;

std::size_t since_last(std::size_t blocks) {
    const std::size_t now = blocks + freed_since_last();
    return (now > last.live ? now - last.live : 0) + (allocated.load(std::memory_order_relaxed) - last.allocated);
}

std::size_t uncollectable_bytes() {
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        const Kind &kind = *collector.kind(i);
        if (kind.setup.lifetime == Lifetime::until_freed) bytes += count_statistics(kind.instance).live_bytes;
    }
    return bytes - own.load(std::memory_order_relaxed);
}

}  // namespace

constinit platform::PerCpuCounter freed;

void start_counting(const Instance &of) {
    if (of.heaps().uses_sequences()) freed.start(platform::cpu_bound());
}

void count_allocated(std::size_t bytes) { allocated.fetch_add(bytes, std::memory_order_relaxed); }
void count_freed(std::size_t bytes) { freed.add(bytes); }
void count_own(std::size_t bytes) { own.fetch_add(bytes, std::memory_order_relaxed); }
void count_own_freed(std::size_t bytes) { own.fetch_sub(bytes, std::memory_order_relaxed); }

// What the client wrote to the variable meanwhile stays in it.
GC_word update_non_gc_bytes() {
    const std::size_t bytes = uncollectable_bytes();
    const std::size_t more = bytes - uncollectable_before;
    uncollectable_before = bytes;
    return std::atomic_ref(GC_non_gc_bytes).fetch_add(more, std::memory_order_relaxed) + more;
}

std::size_t blocks_bytes() {
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i)
        bytes += count_statistics(collector.kind(i)->instance).live_bytes;
    return bytes;
}

void promise(std::size_t bytes) { promised.store(heap_bytes() + bytes, std::memory_order_relaxed); }

std::size_t heap_bytes() {
    std::size_t bytes = 0;
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        const PageHeap &pages = collector.kind(i)->instance.pages();
        bytes += pages.present_bytes() + pages.retained_bytes();
    }
    const std::size_t least = promised.load(std::memory_order_relaxed);
    return bytes > least ? bytes : least;
}

PageNumbers page_numbers() {
    PageNumbers numbers;
    for (std::uint32_t i = 0; i < collector.kind_count(); ++i) {
        const Instance &of = collector.kind(i)->instance;
        const std::size_t retained = of.pages().retained_bytes();
        const std::size_t held = of.pages().present_bytes() + retained;
        const std::size_t peak = of.pages().peak_bytes();
        numbers.heap += held;
        numbers.free += retained;
        numbers.obtained += peak + metadata_bytes(of);
        if (peak > held) numbers.unmapped += peak - held;
    }
    if (const std::size_t least = promised.load(std::memory_order_relaxed); numbers.heap < least) {
        numbers.free += least - numbers.heap;
        numbers.heap = least;
    }
    return numbers;
}

BlockNumbers block_numbers() {
    BlockNumbers numbers;
    numbers.since = since_last(blocks_bytes());
    numbers.total = last.total + numbers.since;
    numbers.reclaimed = last.reclaimed;
    numbers.reclaimed_ever = last.reclaimed_ever;
    return numbers;
}

std::size_t freed_since_last() { return freed.sum() - last.freed; }

void note_begin() {
    before.blocks = blocks_bytes();
    before.since = since_last(before.blocks);
}

void note_end() {
    last.live = blocks_bytes();
    last.reclaimed_ever += last.reclaimed;
    last.reclaimed = before.blocks > last.live ? before.blocks - last.live : 0;
    last.total += before.since;
    last.freed = freed.sum();
    last.allocated = allocated.load(std::memory_order_relaxed);
    update_non_gc_bytes();
}

}  // namespace gr
