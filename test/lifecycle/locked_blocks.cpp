// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that locks blocks (mlock) and frees them without unlocking them, as stores of secrets do.
// Invariant: memory that goes back to the OS is not locked any more, so the limit on locked memory (RLIMIT_MEMLOCK) does
//    not fill up with free memory. A new block there is zero where it must be.
// Must not know: how the library returns memory. Skips where the kernel does not let it lock, or is older than 5.18.
#include "black_box.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <algorithm>
#include <cerrno>

namespace {

constexpr std::size_t kBlocks = 8;
constexpr std::size_t kLargest = 300'000;
constexpr std::size_t kSizes[] = {5000, 100'000, kLargest};

std::size_t locked_kilobytes() {
    std::FILE *file = std::fopen("/proc/self/status", "r");
    GR_REQUIRE(file != nullptr);
    char line[256];
    std::size_t kilobytes = SIZE_MAX;
    while (std::fgets(line, sizeof line, file) != nullptr) std::sscanf(line, "VmLck: %zu", &kilobytes);
    std::fclose(file);
    GR_REQUIRE(kilobytes != SIZE_MAX);
    return kilobytes;
}

void require_locked_pages_can_return() {
    constexpr int kDontNeedLocked = 24;  // of kernel 5.18
    constexpr std::size_t kBytes = kBlocks * kLargest;
    void *const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    GR_REQUIRE(memory != MAP_FAILED);
    const bool returns = mlock(memory, kBytes) == 0 && madvise(memory, kBytes, kDontNeedLocked) == 0;
    munmap(memory, kBytes);
    if (!returns) gr::black_box::leave(gr::black_box::kSkipped, "skipped: mlock or madvise: %s\n", strerror(errno));
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    require_locked_pages_can_return();
    for (const std::size_t size : kSizes) {
        char *blocks[kBlocks];
        for (char *&block : blocks) {
            block = static_cast<char *>(std::malloc(size));
            GR_REQUIRE(block != nullptr);
            std::memset(block, 0xA5, size);
            GR_REQUIRE(mlock(block, size) == 0);
        }
        GR_REQUIRE(locked_kilobytes() >= kBlocks * size >> 10);
        for (char *block : blocks) std::free(block);
        malloc_trim(0);
        // Blocks that are in use may share a page with those that were freed.
        GR_REQUIRE(locked_kilobytes() <= 256);
        for (char *&block : blocks) {
            block = static_cast<char *>(std::calloc(1, size));
            GR_REQUIRE(block != nullptr);
            GR_REQUIRE(std::all_of(block, block + size, [](char byte) { return byte == 0; }));
            std::memset(block, 1, size);
        }
        for (char *block : blocks) std::free(block);
    }
    gr::black_box::require_sound_heap();
    return 0;
}
