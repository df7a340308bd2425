// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a process that has used up nearly all the mappings the kernel allows it (vm.max_map_count).
// Invariant: allocation succeeds or fails with ENOMEM, free never fails, and once mappings are free all works again.
// Must not know: which of the library's system calls meets the limit.
#include "black_box.hpp"

#include <sys/mman.h>
#include <array>
#include <cerrno>

namespace {

constexpr long kLeft = 60;
constexpr long kMostTried = 1'000'000;
constexpr int kSteps = 300'000;
constexpr std::size_t kMiB = std::size_t{1} << 20;

long mapping_limit() {
    std::FILE *file = std::fopen("/proc/sys/vm/max_map_count", "r");
    long limit = 0;
    GR_REQUIRE(file != nullptr && std::fscanf(file, "%ld", &limit) == 1);
    std::fclose(file);
    return limit;
}

std::size_t random_size(gr::black_box::Sequence &random) {
    const uint64_t kind = random.below(1000);
    if (kind < 980) {
        return 1 + random.below(4000);
    }
    return kind < 997 ? random.below(kMiB) : random.below(40 * kMiB);
}

struct Counts {
    int served = 0;
    int refused = 0;
};

Counts allocate_and_free(uint64_t seed) {
    gr::black_box::Sequence random(seed);
    std::array<char *, 500> blocks{};
    Counts counts;
    for (int step = 0; step < kSteps; ++step) {
        char *&slot = blocks[random.below(blocks.size())];
        errno = 0;
        std::free(slot);
        GR_REQUIRE(errno == 0);
        slot = static_cast<char *>(std::malloc(random_size(random)));
        GR_REQUIRE(slot != nullptr || errno == ENOMEM);
        ++(slot != nullptr ? counts.served : counts.refused);
        if (slot != nullptr) {
            *slot = 1;
        }
    }
    for (char *block : blocks) {
        std::free(block);
    }
    return counts;
}

// Alternating protections keep the kernel from merging neighbours: every page is a mapping of its own.
void use_up_mappings(char *pages, long count, std::size_t page) {
    for (long i = 0; i + 1 < count; i += 2) {
        if (mprotect(pages + static_cast<std::size_t>(i) * page, page, PROT_READ) != 0) {
            GR_REQUIRE(errno == ENOMEM);
            return;
        }
    }
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    const long count = mapping_limit() - kLeft - 100;
    if (count > kMostTried) {
        gr::black_box::leave(gr::black_box::kSkipped, "skipped: vm.max_map_count allows too many mappings to use up\n");
    }
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t size = static_cast<std::size_t>(count) * page;
    char *pages = static_cast<char *>(mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    GR_REQUIRE(pages != MAP_FAILED);
    use_up_mappings(pages, count, page);
    const Counts crowded = allocate_and_free(31);
    GR_REQUIRE(crowded.served > 0);

    // Now not one is left.
    char *last = static_cast<char *>(mmap(nullptr, 1000 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (last != MAP_FAILED) {
        use_up_mappings(last, 1000, page);
    }
    allocate_and_free(32);

    GR_REQUIRE(munmap(pages, size) == 0);
    const Counts free_again = allocate_and_free(33);
    GR_REQUIRE(free_again.refused == 0);
    gr::black_box::require_sound_heap();
    return 0;
}
