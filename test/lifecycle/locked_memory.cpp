// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that locks all its memory, present and future, as real-time programs do.
// Invariant: calloc gives zeroes although old kernels take no locked pages back, locking does not make reserved addresses
//    resident, and where the kernel takes locked pages back, what is freed leaves memory.
// Must not know: how the library clears memory. Skips where the kernel does not let it lock.
#include "black_box.hpp"

#include <malloc.h>
#include <sys/mman.h>
#include <algorithm>
#include <cerrno>
#include <vector>

namespace {

constexpr std::size_t kResidentLimit = std::size_t{400} << 20;

std::size_t status_bytes(const char *field) {
    std::FILE *file = std::fopen("/proc/self/status", "r");
    GR_REQUIRE(file != nullptr);
    char line[256];
    std::size_t kilobytes = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) {
        if (std::strncmp(line, field, std::strlen(field)) == 0) {
            GR_REQUIRE(std::sscanf(line + std::strlen(field), ": %zu", &kilobytes) == 1);
        }
    }
    std::fclose(file);
    return kilobytes << 10;
}

// Locking makes every accessible mapping resident, so one look beforehand keeps a wrong library from eating the
// machine.
std::size_t accessible_bytes() {
    std::FILE *file = std::fopen("/proc/self/maps", "r");
    GR_REQUIRE(file != nullptr);
    char line[512];
    std::size_t total = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) {
        std::size_t begin = 0;
        std::size_t end = 0;
        char access[5] = "";
        GR_REQUIRE(std::sscanf(line, "%zx-%zx %4s", &begin, &end, access) == 3);
        if (access[0] == 'r' || access[1] == 'w') {
            total += end - begin;
        }
    }
    std::fclose(file);
    return total;
}

bool is_zero(const unsigned char *block, std::size_t size) {
    return std::all_of(block, block + size, [](unsigned char byte) { return byte == 0; });
}

void dirty_free_calloc(std::size_t size) {
    const std::size_t count = std::clamp<std::size_t>((std::size_t{1} << 20) / size, 2, 400);
    std::vector<unsigned char *> blocks(count);
    for (int round = 0; round < 3; ++round) {
        for (unsigned char *&block : blocks) {
            block = static_cast<unsigned char *>(std::calloc(1, size));
            GR_REQUIRE(block != nullptr);
            GR_REQUIRE(is_zero(block, size));
            std::memset(block, 0xA5, malloc_usable_size(block));
        }
        for (unsigned char *block : blocks) {
            std::free(block);
        }
        malloc_trim(0);
    }
}

// Of kernel 5.18.
bool kernel_takes_locked_pages() {
    constexpr int kDontNeedLocked = 24;
    constexpr std::size_t kPage = 4096;
    void *const page = mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    GR_REQUIRE(page != MAP_FAILED);
    const bool takes = madvise(page, kPage, kDontNeedLocked) == 0;
    munmap(page, kPage);
    return takes;
}

void require_freed_memory_leaves() {
    constexpr std::size_t kSize = 5000;
    // The heap's range grows by a sixteenth, and in a locked process all of that is resident.
    constexpr std::size_t kSlack = std::size_t{16} << 20;
    std::vector<void *> blocks(20000);
    malloc_trim(0);
    const std::size_t before = status_bytes("VmRSS");
    for (void *&block : blocks) {
        block = std::malloc(kSize);
        GR_REQUIRE(block != nullptr);
        std::memset(block, 1, kSize);
    }
    GR_REQUIRE(status_bytes("VmRSS") > before + blocks.size() * kSize / 2);
    for (void *block : blocks) {
        std::free(block);
    }
    malloc_trim(0);
    GR_REQUIRE(status_bytes("VmRSS") < before + kSlack);
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    GR_REQUIRE(accessible_bytes() < kResidentLimit);
    if (mlockall(MCL_CURRENT | MCL_FUTURE) != 0) {
        gr::black_box::leave(gr::black_box::kSkipped, "skipped: mlockall: %s; needs root or a larger ulimit -l\n",
                             strerror(errno));
    }
    GR_REQUIRE(status_bytes("VmRSS") < kResidentLimit);
    for (std::size_t size = 16; size <= 40000; size += size / 4) {
        dirty_free_calloc(size);
    }
    for (std::size_t size : {std::size_t{100000}, std::size_t{1} << 20, std::size_t{5} << 20, std::size_t{34} << 20}) {
        dirty_free_calloc(size);
    }
    GR_REQUIRE(status_bytes("VmRSS") < kResidentLimit);
    if (kernel_takes_locked_pages()) {
        require_freed_memory_leaves();
    }
    gr::black_box::require_sound_heap();
    return 0;
}
