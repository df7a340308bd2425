// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that frees blocks and keeps pointers to them, in each place where one may lie, and then allocates
//    much more than it could without what it frees.
// Invariant: a freed block is not given again while a pointer to it lies anywhere, and reads as zero; afterwards it is,
//    and all together need no more memory than is in use and a part of it. What is freed twice ends the program.
//    With "old_kernel" all this holds where the kernel has no PAGEMAP_SCAN. With "blind" the kernel does not
//    tell what is written: then nothing is given again, and one line says so.
// Must not know: how pointers are found; when it is looked for them.
#include "black_box.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

using namespace gr::black_box;

namespace {

constexpr std::size_t kBlock = 208;
constexpr std::size_t kLarge = std::size_t{3} << 20;
constexpr unsigned kBlocks = 400000;
constexpr unsigned kThreads = 3;
// Of blocks that have a pointer at each end: of one that lies on several units, and of whole units, too.
constexpr std::size_t kHolders[] = {48, 640, 9 * 1024, 30 * 1024, 300 * 1024};
constexpr unsigned kOfEach = 3;
constexpr std::uint64_t kMostHeap = std::uint64_t{160} << 20;

struct Cell {
    void *pointer;
    char rest[40];
};

Cell *in_static;
thread_local void *in_thread_local;
void **in_mapping;

// The complements of what was freed and is still pointed to, so that this is no pointer.
std::atomic<std::uintptr_t> kept[48];
std::atomic<unsigned> kept_count;

std::atomic<std::uintptr_t> *kept_of(const void *p) {
    for (std::atomic<std::uintptr_t> &one : kept) {
        if (one == ~reinterpret_cast<std::uintptr_t>(p)) return &one;
    }
    return nullptr;
}

void keep(const void *p) { kept[kept_count++] = ~reinterpret_cast<std::uintptr_t>(p); }

// Of a size that the program allocates many of afterwards, and that are not changed after free.
void *freed(std::size_t size) {
    void *const p = std::malloc(size);
    std::memset(p, 7, size);
    keep(p);
    std::free(opaque(p));
    return p;
}

void expect_zero(const void *p, std::size_t size, const char *where) {
    const char *const bytes = static_cast<const char *>(opaque(const_cast<void *>(p)));
    for (std::size_t i = 0; i < size; ++i) {
        if (bytes[i] != 0) leave(1, "%s: what was freed is not zero\n", where);
    }
}

void fill_and_free(std::size_t size, unsigned blocks) {
    std::vector<void *> some(8);
    for (unsigned i = 0; i < blocks; ++i) {
        void *&place = some[i % some.size()];
        std::free(place);
        place = std::malloc(size);
        if (kept_of(place) != nullptr) leave(1, "what was freed and is still pointed to was given again\n");
        std::memset(place, 9, size);
    }
    for (void *const p : some) std::free(p);
}

void *work(void *) {
    void *const on_stack = freed(kBlock);
    in_thread_local = freed(kBlock);
    fill_and_free(kBlock, kBlocks);
    expect_zero(in_thread_local, kBlock, "a thread-local variable");
    expect_zero(on_stack, kBlock, "a thread's stack");
    for (const void *const p : {on_stack, in_thread_local}) *kept_of(p) = 0;
    return nullptr;
}

// Nothing but each other points to the blocks, in a ring, and at the end of each lies the pointer to what was freed.
[[gnu::noinline]] void lose_holders() {
    for (const std::size_t size : kHolders) {
        void **blocks[kOfEach];
        for (void **&block : blocks) block = static_cast<void **>(std::calloc(1, size));
        for (unsigned i = 0; i < kOfEach; ++i) {
            blocks[i][0] = blocks[(i + 1) % kOfEach];
            blocks[i][size / sizeof(void *) - 1] = freed(kBlock);
        }
    }
}

template <std::size_t kSteps>
void filter(sock_filter (&steps)[kSteps]) {
    const sock_fprog program{kSteps, steps};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        leave(77, "no sandbox\n");
}

void be_old_kernel() {
    constexpr std::uint32_t kScan = 0xc0606610;  // PAGEMAP_SCAN
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args) + sizeof(std::uint64_t)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kScan, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOTTY),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    filter(steps);
}

// Nor can the pages be read one by one.
void tell_nothing() {
    be_old_kernel();
    sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pread64, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    filter(steps);
}

void be_blind() {
    in_static = static_cast<Cell *>(std::calloc(1, sizeof(Cell)));
    in_static->pointer = freed(kBlock);
    void *const large = freed(kLarge);
    tell_nothing();
    fill_and_free(kBlock, kBlocks);
    fill_and_free(kLarge, 300);
    expect_zero(in_static->pointer, kBlock, "a block in use, and nobody looks");
    expect_zero(large, kLarge, "a large block, and nobody looks");
    require_sound_heap();
}

// In a process of its own, for what it says is read.
int expect_one_line_of_the_blind() {
    const int said = memfd_create("said", 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(said, 2);
        be_blind();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    char text[4096] = {};
    const ssize_t bytes = pread(said, text, sizeof text - 1, 0);
    if (status != 0) leave(1, "status %d: %s", status, text);
    constexpr char kLine[] = "granary: nothing is collected";
    if (std::strncmp(text, kLine, sizeof kLine - 1) != 0 || std::strchr(text, '\n') != text + bytes - 1)
        leave(1, "it is not said once that nothing is collected: %s", text);
    return 0;
}

// It must end by a signal; what it says there goes nowhere.
void expect_death(void (*of)(), const char *what) {
    const pid_t child = fork();
    if (child == 0) {
        fclose(stderr);
        close(2);
        of();
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) leave(1, "%s: not found\n", what);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    if (argc > 1 && std::strcmp(argv[1], "blind") == 0) return expect_one_line_of_the_blind();
    if (argc > 1 && std::strcmp(argv[1], "old_kernel") == 0) be_old_kernel();
    lose_holders();
    in_static = static_cast<Cell *>(std::calloc(1, sizeof(Cell)));
    in_static->pointer = freed(kBlock);
    void *const large = freed(kLarge);
    void *volatile inside = static_cast<char *>(freed(kBlock)) + kBlock / 2;
    in_mapping = static_cast<void **>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    in_mapping[5] = freed(kBlock);
    void *const moved = std::malloc(kBlock);
    keep(moved);
    void *const grown = std::realloc(opaque(moved), 16 * kBlock);
    pthread_t threads[kThreads];
    for (pthread_t &thread : threads) pthread_create(&thread, nullptr, work, nullptr);
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    fill_and_free(kBlock, kBlocks);
    fill_and_free(kLarge, 300);
    fill_and_free(16 * kBlock, kBlocks / 16);
    expect_zero(in_static->pointer, kBlock, "a block in use");
    expect_zero(large, kLarge, "a large block");
    expect_zero(static_cast<char *>(inside) - kBlock / 2, kBlock, "a pointer inside");
    expect_zero(in_mapping[5], kBlock, "mapped memory");
    expect_zero(moved, kBlock, "a block that had to move");
    std::free(grown);
    if (statistics().heap_bytes > kMostHeap) leave(1, "what is freed piles up: %lu\n", statistics().heap_bytes);

    expect_death([] { std::free(opaque(freed(kBlock))); }, "a block that is freed twice");
    expect_death([] { std::free(opaque(freed(kLarge))); }, "a large block that is freed twice");
    expect_death([] { opaque(std::realloc(opaque(freed(kBlock)), kBlock - 8)); }, "a freed block that is resized");
    expect_death([] { std::free(static_cast<char *>(opaque(std::malloc(kBlock))) + 16); },
                 "a pointer inside that is freed");
    require_sound_heap();
    return 0;
}
