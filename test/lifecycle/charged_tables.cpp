// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how much memory the kernel charges for the library's own tables, on the largest machine that there may be.
// Invariant: what is charged follows what the program uses, not what the region may grow to. Where memory is counted
//    strictly (vm.overcommit_memory=2) or locked (mlockall), a program pays for all that is charged.
// Must not know: which tables there are.
#include "black_box.hpp"

#include <unistd.h>

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kBlock = 1000;

// Private memory that can be written.
std::size_t charged_bytes() {
    std::FILE *file = std::fopen("/proc/self/status", "r");
    GR_REQUIRE(file != nullptr);
    char line[256];
    std::size_t kilobytes = 0;
    while (std::fgets(line, sizeof line, file) != nullptr) std::sscanf(line, "VmData: %zu", &kilobytes);
    std::fclose(file);
    GR_REQUIRE(kilobytes != 0);
    return kilobytes << 10;
}

void use(std::size_t bytes) {
    for (std::size_t used = 0; used < bytes; used += kBlock) {
        auto *const block = static_cast<char *>(std::malloc(kBlock));
        GR_REQUIRE(block != nullptr);
        *block = 1;
    }
}

}  // namespace

int main(int, char **arguments) {
    gr::black_box::require_granary();
    if (std::getenv("GRANARY_REGION") == nullptr) {
        GR_REQUIRE(setenv("GRANARY_REGION", "4T", 1) == 0);
        execv("/proc/self/exe", arguments);
        GR_REQUIRE(!"the program starts itself again");
    }
    const auto per_cpu = static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_CONF)) * kMiB / 8;
    const std::size_t start = charged_bytes();
    GR_REQUIRE(start < 6 * kMiB + per_cpu);
    constexpr std::size_t kUsed = 64 * kMiB;
    use(kUsed);
    GR_REQUIRE(charged_bytes() - start < kUsed + kUsed / 8);
    gr::black_box::require_sound_heap();
    return 0;
}
