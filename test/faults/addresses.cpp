// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what others see of the heap's addresses. dump: a debugger that writes a core file. limit MEBIBYTES: a limit on
//    addresses (RLIMIT_AS) that the program sets on itself after its start. sizes MEBIBYTES: such a limit before the start.
// Invariant: a core file has little more than what is in use, or after a burst what is resident, and all of that; a limit leaves room for a thread and a
//    mapping, blocks get at least seven eighths of it, and when they are freed others get that room, blocks of
//    every size among them. Blocks that are a little larger than some units get most of a limit, too.
// Must not know: where the heap lies.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "require.hpp"

using namespace gr::test;

namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr unsigned kRounds = 4;        // a heap could retain what is taken again and again
constexpr size_t kDirect = 50 * kMiB;  // larger than any block that lies in the heap's range

// Bytes of all mappings that a core file may have: not those marked "dd" (do not dump).
size_t dumped_bytes() {
    std::ifstream maps("/proc/self/smaps");
    size_t total = 0;
    size_t last = 0;
    for (std::string line; std::getline(maps, line);) {
        if (line.starts_with("Size:")) last = std::stoul(line.substr(5)) * 1024;
        if (line.starts_with("VmFlags:") && line.find(" dd") == std::string::npos) total += last;
    }
    return total;
}

size_t resident_bytes() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("VmRSS:")) return std::stoul(line.substr(6)) * 1024;
    fail("/proc/self/status has no VmRSS");
}

void dump() {
    constexpr size_t kMost = 32 * kMiB;  // with the program's own files
    const size_t before = dumped_bytes();
    if (before > kMost) fail("%zu MiB would be written to a core file of a small program", before / kMiB);
    constexpr size_t kBlocks = 6400;
    constexpr size_t kSize = 10000;
    std::vector<void *> blocks;
    for (size_t i = 0; i < kBlocks; ++i) {
        blocks.push_back(std::malloc(kSize));
        if (blocks.back() == nullptr) fail("malloc of %zu bytes was refused", kSize);
        std::memset(blocks.back(), 1, kSize);
    }
    if (dumped_bytes() < before + kBlocks * kSize) fail("live blocks are missing in a core file");
    for (void *const block : blocks) std::free(block);
    constexpr size_t kBurst = 400;
    for (void *&block : blocks = std::vector<void *>(kBurst)) {
        block = std::malloc(kMiB);
        if (block == nullptr) fail("malloc of a MiB was refused");
        std::memset(block, 1, kMiB);
    }
    for (void *const block : blocks) std::free(block);
    malloc_trim(0);  // a unit that is not returned yet keeps its chunk in core files
    const size_t after = dumped_bytes();
    const size_t resident = resident_bytes();
    if (after > before + resident + kMost)
        fail("%zu MiB would be written to a core file after all was freed, and %zu MiB are resident", after / kMiB,
             resident / kMiB);
}

// Takes blocks until none is granted and frees them. Returns the bytes that were granted.
size_t fill(size_t size, size_t most) {
    size_t granted = 0;
    void *kept = nullptr;  // a list of all
    while (void *const block = std::malloc(size)) {
        *static_cast<void **>(block) = kept;
        kept = block;
        granted += size;
        if (granted > most) fail("%zu MiB were granted under a limit of %zu MiB", granted / kMiB, most / kMiB);
    }
    while (kept != nullptr) std::free(std::exchange(kept, *static_cast<void **>(kept)));
    return granted;
}

void limit(size_t mebibytes) {
    const size_t bytes = mebibytes * kMiB;
    const rlimit wanted = {bytes, bytes};
    if (setrlimit(RLIMIT_AS, &wanted) != 0) fail("setrlimit: errno %d", errno);
    std::thread([] { std::free(std::malloc(100)); }).join();
    void *const page = mmap(nullptr, kMiB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) fail("mmap of a MiB was refused under a limit of %zu MiB", mebibytes);
    munmap(page, kMiB);
    const size_t granted = fill(kMiB / 2, bytes);
    if (granted < bytes - bytes / 8)
        fail("only %zu MiB were granted under a limit of %zu MiB", granted / kMiB, mebibytes);
    void *const half = mmap(nullptr, bytes / 2, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (half == MAP_FAILED)
        fail("freed blocks of %zu MiB left no room for a mapping of half the limit", granted / kMiB);
    munmap(half, bytes / 2);
    std::thread([] { std::free(std::malloc(100)); }).join();
    void *const again = std::malloc(granted / 2);
    if (again == nullptr) fail("malloc of %zu MiB was refused after all was freed", granted / 2 / kMiB);
    std::free(again);
    for (unsigned round = 0; round < kRounds; ++round) {
        fill(kMiB / 2, bytes);
        fill(kMiB / 10, bytes);
    }
    const size_t in_large = fill(kDirect, bytes);
    if (in_large < bytes - bytes / 4)
        fail("only %zu MiB were granted in blocks of %zu MiB after smaller blocks were freed", in_large / kMiB,
             kDirect / kMiB);
}

// Starts the program anew, under the limit.
[[noreturn]] void start_under(const char *mebibytes) {
    const rlimit wanted = {std::stoul(mebibytes) * kMiB, std::stoul(mebibytes) * kMiB};
    if (setrlimit(RLIMIT_AS, &wanted) != 0) fail("setrlimit: errno %d", errno);
    execl("/proc/self/exe", "addresses", "sizes-under", mebibytes, nullptr);
    fail("exec of /proc/self/exe: errno %d", errno);
}

void sizes_under(size_t mebibytes) {
    for (const size_t size : {size_t{33'000}, size_t{70'000}, size_t{150'000}, size_t{400'000}}) {
        const size_t granted = fill(size, mebibytes * kMiB);
        if (granted < mebibytes * kMiB / 3 * 2)
            fail("only %zu MiB were granted in blocks of %zu bytes under a limit of %zu MiB", granted / kMiB, size,
                 mebibytes);
    }
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    const std::string mode = argc > 1 ? argv[1] : "";
    if (mode == "dump") {
        dump();
    } else if (mode == "limit" && argc > 2) {
        limit(std::stoul(argv[2]));
    } else if (mode == "sizes" && argc > 2) {
        start_under(argv[2]);
    } else if (mode == "sizes-under" && argc > 2) {
        sizes_under(std::stoul(argv[2]));
    } else {
        fail("usage: addresses dump | limit MEBIBYTES | sizes MEBIBYTES");
    }
    return 0;
}
