// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program with a large heap under each word of GRANARY_HUGE_PAGES, which is its argument.
// Invariant: what the statistics call huge is what the kernel says; the mappings do not grow with the heap.
// Must not know: when the library asks for huge pages. Skips where the kernel has none to give.
#include "black_box.hpp"

#include <sys/mman.h>
#include <chrono>
#include <string_view>
#include <vector>

namespace {

using gr::black_box::kSkipped;

constexpr std::size_t kMegabyte = std::size_t{1} << 20;
constexpr std::size_t kHugePage = 2 * kMegabyte;
constexpr std::size_t kHeap = 160 * kMegabyte;
constexpr std::size_t kBlock = 112;
constexpr std::size_t kMoreMappings = 12 + kHeap / (64 * kMegabyte);

std::size_t huge_bytes() { return gr::black_box::statistics().huge_bytes; }

std::size_t huge_bytes_of_kernel() {
    std::FILE *file = std::fopen("/proc/self/smaps_rollup", "r");
    GR_REQUIRE(file != nullptr);
    char line[256];
    std::size_t kilobytes = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) std::sscanf(line, "AnonHugePages: %zu", &kilobytes);
    std::fclose(file);
    return kilobytes << 10;
}

std::size_t mappings() {
    std::FILE *file = std::fopen("/proc/self/maps", "r");
    GR_REQUIRE(file != nullptr);
    std::size_t count = 0;
    for (int c = 0; (c = std::fgetc(file)) != EOF;) count += c == '\n' ? 1 : 0;
    std::fclose(file);
    return count;
}

bool system_has(const char *words) {
    std::FILE *file = std::fopen("/sys/kernel/mm/transparent_hugepage/enabled", "r");
    char line[256] = "";
    if (file == nullptr) return false;
    const bool read = std::fgets(line, sizeof line, file) != nullptr;
    std::fclose(file);
    return read && std::strstr(line, words) != nullptr;
}

using Clock = std::chrono::steady_clock;

// And how long that takes.
bool kernel_can_collapse(Clock::duration *taken) {
    constexpr int kMadvCollapse = 25;
    void *const pages = mmap(nullptr, 2 * kHugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    GR_REQUIRE(pages != MAP_FAILED);
    char *const begin =
        reinterpret_cast<char *>((reinterpret_cast<std::uintptr_t>(pages) + kHugePage - 1) & ~(kHugePage - 1));
    std::memset(begin, 1, kHugePage);
    const Clock::time_point began = Clock::now();
    const bool can = madvise(begin, kHugePage, kMadvCollapse) == 0;
    *taken = Clock::now() - began;
    munmap(pages, 2 * kHugePage);
    return can;
}

std::vector<unsigned char *> fill() {
    std::vector<unsigned char *> blocks(kHeap / kBlock);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
        blocks[i] = static_cast<unsigned char *>(std::malloc(kBlock));
        GR_REQUIRE(blocks[i] != nullptr);
        std::memset(blocks[i], static_cast<int>(i % 251), kBlock);
    }
    return blocks;
}

// As a program does that goes on.
void churn() {
    void *blocks[300];
    for (void *&block : blocks) block = std::malloc(kBlock);
    for (void *block : blocks) std::free(block);
}

// Where the kernel is short of huge pages, the library tries ever more rarely. false: no wonder that it has none.
bool wait_for_huge_pages() {
    constexpr auto kPatience = std::chrono::minutes(1);
    constexpr auto kQuick = std::chrono::milliseconds(1);
    for (const Clock::time_point began = Clock::now(); huge_bytes() == 0; churn()) {
        if (Clock::now() - began < kPatience) continue;
        Clock::duration taken{};
        GR_REQUIRE(!kernel_can_collapse(&taken) || taken > kQuick);
        return false;
    }
    return true;
}

}  // namespace

int main(int count, char **words) {
    gr::black_box::require_granary();
    GR_REQUIRE(count == 2);
    const std::string_view policy = words[1];
    const bool everybody = system_has("[always]");
    Clock::duration taken{};
    if (policy == "always" && !everybody && !system_has("[madvise]")) return kSkipped;
    if (policy == "auto" && !everybody && (!system_has("[madvise]") || !kernel_can_collapse(&taken))) return kSkipped;
    const std::size_t mappings_at_first = mappings();

    const std::vector<unsigned char *> blocks = fill();
    if (policy == "auto" && !wait_for_huge_pages()) return kSkipped;
    if (policy == "always") GR_REQUIRE(huge_bytes() >= kHeap / 2);
    if (policy == "never" && !everybody) GR_REQUIRE(huge_bytes() == 0);
    if (policy != "auto") GR_REQUIRE(huge_bytes() == huge_bytes_of_kernel());
    GR_REQUIRE(mappings() <= mappings_at_first + kMoreMappings);

    for (std::size_t i = 0; i < blocks.size(); ++i) {
        for (std::size_t at = 0; at < kBlock; ++at) GR_REQUIRE(blocks[i][at] == i % 251);
        if (i % 16 != 0) std::free(blocks[i]);
    }
    gr_trim(0);
    for (std::size_t i = 0; i < blocks.size(); i += 16) {
        for (std::size_t at = 0; at < kBlock; ++at) GR_REQUIRE(blocks[i][at] == i % 251);
    }
    return 0;
}
