// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads that allocate, resize, free each other's blocks and fork, while signals come: one that writes the profile,
//    and one whose handler allocates and frees.
// Invariant: each block keeps what was written into it, and the heap is valid at the end.
// Must not know: how a profile is written.
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "black_box.hpp"

namespace {

constexpr unsigned kThreads = 3;
constexpr unsigned kSlots = 400;
constexpr unsigned kSteps = 30000;

std::atomic<unsigned char *> slots[kSlots];
std::atomic<unsigned> handled{0};

unsigned char *made(std::size_t size) {
    auto *const p = static_cast<unsigned char *>(malloc(size));
    GR_REQUIRE(p != nullptr);
    memset(p, static_cast<int>(size % 251), size < 64 ? size : 64);
    memcpy(p, &size, sizeof size);
    return p;
}

void end(unsigned char *p) {
    if (p == nullptr) return;
    std::size_t size = 0;
    memcpy(&size, p, sizeof size);
    for (std::size_t i = sizeof size; i < size && i < 64; ++i) GR_REQUIRE(p[i] == size % 251);
    free(p);
}

void handle(int) {
    const int before = errno;
    for (const std::size_t size : {32UL, 700UL, 40000UL}) end(made(size));
    auto *const p = static_cast<unsigned char *>(realloc(made(50000), 90000));
    GR_REQUIRE(p != nullptr);
    free(p);
    ++handled;
    errno = before;
}

std::size_t size_of(std::uint64_t random) {
    constexpr std::size_t kMost[] = {100, 1000, 30000, 200000};
    return 16 + random / 8 % kMost[random % 16 == 0 ? random / 16 % 4 : random % 2];
}

void work(unsigned thread) {
    std::uint64_t random = thread + 1;
    for (unsigned i = 0; i < kSteps; ++i) {
        random = random * 6364136223846793005 + 1442695040888963407;
        const std::uint64_t drawn = random >> 33;
        end(slots[drawn % kSlots].exchange(made(size_of(drawn / kSlots))));
        if (i % 64 == 0) raise(SIGUSR1);
        if (i % 1000 == 0) raise(SIGUSR2);
        if (i % 5000 != 0) continue;
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            for (unsigned n = 0; n < 200; ++n) end(made(size_of(n * 977)));
            _exit(0);
        }
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        GR_REQUIRE(status == 0);
    }
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    char folder[] = "/tmp/granary-storm-XXXXXX";
    GR_REQUIRE(mkdtemp(folder) != nullptr && chdir(folder) == 0);
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_RESTART;
    sigaction(SIGUSR1, &action, nullptr);
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < kThreads; ++t) threads.emplace_back(work, t);
    for (std::thread &thread : threads) thread.join();
    for (auto &slot : slots) end(slot.exchange(nullptr));
    GR_REQUIRE(handled > 0);
    GR_REQUIRE(gr_debug_check() == nullptr);
    // Each is whole; and of those of one process none is missing.
    GR_REQUIRE(system("for f in granary.*.pb.gz; do gzip -t $f || exit 1; done; ! ls *.part 2> /dev/null") == 0);
    GR_REQUIRE(system("n=$(ls granary.$PPID.*.pb.gz | wc -l); test $n -ge 3 && ls granary.$PPID.$((n - 1)).pb.gz") ==
               0);
    GR_REQUIRE(chdir("/") == 0 && system((std::string("rm -r ") + folder).c_str()) == 0);
    return 0;
}
