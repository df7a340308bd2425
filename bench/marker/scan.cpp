// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a marker looks through memory that holds one sort of data, for words at multiples of a word or anywhere: to count
//    its instructions.
// Invariant: what is counted lies in measured(); no word is found that is none.
// Must not know: roots; how a collection begins and ends.
//
// usage: scan aligned|anywhere pointers|numbers|text|zeroes|SIZE     SIZE: a list of such blocks, two of whose words point
#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "collector/kinds.hpp"
#include "collector/marker.hpp"

namespace {

constexpr std::size_t kBytes = gr::kMiB;
// Where the heap lies: as high as valgrind allows, since in a process the upper bytes of its addresses are no small numbers.
constexpr std::uintptr_t kPlace = 0x0d0000000000;
constexpr std::size_t kPlaceBytes = 64 * gr::kGiB;
constexpr std::uint8_t kNumber = 1;

gr::Kinds kinds;
gr::Instance heap;
gr::platform::SlabsPlace found;
gr::MarkProcedures procedures{};
gr::Worklist worklist;
gr::Worklist later;

[[gnu::noinline]] void measured(gr::Marker &marker, gr::platform::Range range, const void *list) {
    marker.scan(range);
    marker.consider(reinterpret_cast<std::uintptr_t>(list));
    marker.drain();
}

std::uintptr_t word_of(std::string_view data, std::size_t i, const void *block) {
    if (data == "pointers") return i % 2 == 0 ? reinterpret_cast<std::uintptr_t>(block) : i;
    if (data == "numbers") return i * i;
    constexpr char kText[] = "a text of words, as programs have them in strings of some length; ";
    std::uintptr_t word = 0;
    if (data == "text") std::memcpy(&word, &kText[i * sizeof word % (sizeof kText - sizeof word)], sizeof word);
    return word;
}

// Each block points to the one before, and to the block that is sought.
const char *make_list(gr::Kind &kind, std::size_t size, const void *sought) {
    const char *last = nullptr;
    for (std::size_t bytes = 0; bytes < kBytes; bytes += size) {
        auto *const block = static_cast<char *>(std::memset(kind.instance.allocate(size), 0, size));
        std::memcpy(block, &last, sizeof last);
        std::memcpy(block + size - sizeof sought, &sought, sizeof sought);
        last = block;
    }
    return last;
}

}  // namespace

int main(int argc, char **argv) {
    const std::string_view words = argc == 3 ? argv[1] : "";
    if (words != "aligned" && words != "anywhere") return 2;
    void *const place = mmap(reinterpret_cast<void *>(kPlace), kPlaceBytes, PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (place == MAP_FAILED) return 1;
    const gr::Instance::Within within{static_cast<char *>(place), kPlaceBytes, SIZE_MAX};
    if (!heap.start_within(gr::Options::defaults(), within, "free", &found)) return 1;
    gr::Kind *const kind =
        kinds.adopt(heap, {.adds_size = true, .words = words == "anywhere" ? gr::Words::anywhere : gr::Words::aligned});
    if (kind == nullptr) return 1;
    const std::size_t size = std::strtoul(argv[2], nullptr, 10);
    const void *const block = kind->instance.allocate(64);
    auto *const memory = static_cast<char *>(std::aligned_alloc(64, kBytes));
    for (std::size_t i = 0; i < kBytes / sizeof(void *); ++i) {
        const std::uintptr_t word = word_of(argv[2], i, block);
        std::memcpy(memory + i * sizeof word, &word, sizeof word);
    }
    const char *const list = size == 0 ? nullptr : make_list(*kind, size, block);
    if (!kinds.cover_marks()) return 1;
    kinds.field().prepare(kind->number, kind->instance.collector_view());
    gr::Marker marker({kinds.field(), procedures, worklist, later, kNumber, gr::MarkMode::stopped});
    measured(marker, {memory, size == 0 ? memory + kBytes : memory}, list);
    const gr::Target t = kinds.field().target(reinterpret_cast<std::uintptr_t>(block));
    std::printf("%s\n", marker.is_marked(t) ? "found" : "not found");
    return 0;
}
