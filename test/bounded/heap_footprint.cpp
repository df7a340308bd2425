// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a first-class heap of ten small blocks costs: resident memory beside the pages of its blocks, and
//    mappings; printed, and held against a bound.
// Invariant: averaged over heaps that live at once, each with the same blocks, of one class or of ten.
// Must not know: what a heap keeps.
#include "require.hpp"

#include <fcntl.h>
#include <algorithm>
#include <array>
#include <cstddef>

using namespace gr::test;

namespace {

constexpr size_t kHeaps = 200;
constexpr size_t kBlocks = 10;
constexpr size_t kMostKiB = 90;
constexpr size_t kMostMappings = 15;

struct Usage {
    size_t resident_kib;
    size_t mappings;
};

Usage usage() {
    Usage now = {};
    char text[4096];
    int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    if (file < 0) fail("/proc/self/maps: %s", std::strerror(errno));
    for (ssize_t length; (length = read(file, text, sizeof text)) > 0;)
        now.mappings += static_cast<size_t>(std::count(text, text + length, '\n'));
    close(file);
    // Not statm, whose counters lag behind.
    file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    const ssize_t length = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (length < 0) fail("/proc/self/smaps_rollup: %s", std::strerror(errno));
    close(file);
    text[length] = '\0';
    const char *line = std::strstr(text, "Rss:");
    if (line == nullptr) fail("/proc/self/smaps_rollup: no Rss");
    now.resident_kib = std::strtoul(line + std::strlen("Rss:"), nullptr, 10);
    return now;
}

size_t size_of_block(size_t number, size_t classes) { return size_t{48} << (number % classes) / 2; }

// The pages that the blocks fill, in KiB.
size_t fill(gr_heap *heap, size_t classes) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    std::array<uintptr_t, 2 *kBlocks> pages = {};
    size_t count = 0;
    for (size_t number = 0; number < kBlocks; ++number) {
        // A different class each: 48, 64, 96, 128, 192 ...
        const size_t size = size_of_block(number, classes) / 3 * (number % classes % 2 == 0 ? 3 : 4);
        void *block = gr_heap_malloc(heap, size);
        if (block == nullptr) fail("no block of %zu bytes: out of memory", size);
        std::memset(block, 1, size);
        pages[count++] = reinterpret_cast<uintptr_t>(block) / page;
        pages[count++] = (reinterpret_cast<uintptr_t>(block) + size - 1) / page;
    }
    std::sort(pages.begin(), pages.end());
    const auto end = std::unique(pages.begin(), pages.end());
    return static_cast<size_t>(end - pages.begin()) * page / 1024;
}

void measure(size_t classes) {
    static std::array<gr_heap *, kHeaps> heaps;
    size_t of_blocks = 0;
    const Usage before = usage();
    for (gr_heap *&heap : heaps) {
        heap = gr_heap_new(0);
        if (heap == nullptr) fail("no heap: out of memory");
        of_blocks = fill(heap, classes);
    }
    const Usage after = usage();
    const size_t resident = (after.resident_kib - before.resident_kib) / kHeaps;
    const size_t mappings = (after.mappings - before.mappings) / kHeaps;
    dprintf(STDOUT_FILENO, "ten blocks of %zu class%s: %zu KiB resident, %zu of them the blocks' pages; %zu mappings\n",
            classes, classes == 1 ? "" : "es", resident, of_blocks, mappings);
    if (resident > of_blocks + kMostKiB) fail("a heap needs more than %zu KiB beside its blocks", kMostKiB);
    if (mappings > kMostMappings) fail("a heap has more than %zu mappings", kMostMappings);
    for (gr_heap *heap : heaps) gr_heap_destroy(heap);
}

}  // namespace

int main() {
    require_granary();
    if (!gr::black_box::granary_in_use()) return kSkipped;
    measure(1);
    measure(kBlocks);
}
