// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a signal handler that allocates and frees on a stack of the size that SIGSTKSZ long had.
// Invariant: every slow path of malloc and free finds room there; below the stack lies a page that nobody may touch.
// Must not know: which slow path needs the most.
#include "black_box.hpp"

#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>
#include <array>
#include <csignal>
#include <thread>

namespace {

// What 8 KiB leave to the handler where the kernel saves the widest registers.
constexpr std::size_t kRoom = 4800;

std::array<void *, 3000> blocks;
gr::black_box::Sequence sequence(1);

void fill() {
    for (void *&block : blocks) {
        const std::size_t size = std::size_t{8} << sequence.below(12);
        block = sequence.below(7) == 0 ? std::calloc(1, size) : std::malloc(size);
        GR_REQUIRE(block != nullptr);
    }
}

void empty() {
    for (void *&block : blocks) {
        if (sequence.below(3) == 0) block = std::realloc(block, 777);
        std::free(block);
    }
}

// The first blocks are another thread's.
void handle(int) {
    empty();
    for (int round = 0; round < 6; ++round) {
        fill();
        empty();
    }
    std::free(gr::black_box::opaque(std::malloc(std::size_t{50} << 20)));
}

void install_small_stack() {
    const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t size = (getauxval(AT_MINSIGSTKSZ) + kRoom) / 16 * 16;
    void *const mapped = mmap(nullptr, page + size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    GR_REQUIRE(mapped != MAP_FAILED);
    GR_REQUIRE(mprotect(mapped, page, PROT_NONE) == 0);
    stack_t stack{};
    stack.ss_sp = static_cast<char *>(mapped) + page;
    stack.ss_size = size;
    GR_REQUIRE(sigaltstack(&stack, nullptr) == 0);
    struct sigaction action {};
    action.sa_handler = handle;
    action.sa_flags = SA_ONSTACK;
    GR_REQUIRE(sigaction(SIGUSR1, &action, nullptr) == 0);
}

}  // namespace

int main() {
    gr::black_box::require_granary();
    if (getauxval(AT_MINSIGSTKSZ) == 0) {
        gr::black_box::leave(gr::black_box::kSkipped, "skipped: the kernel does not tell what a signal needs\n");
    }
    install_small_stack();
    for (int round = 0; round < 20; ++round) {
        std::thread(fill).join();
        GR_REQUIRE(raise(SIGUSR1) == 0);
    }
    gr::black_box::require_sound_heap();
    return 0;
}
