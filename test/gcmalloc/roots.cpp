// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: blocks that only one place points to, each place of another kind, while garbage is made and collected.
// Invariant: a block keeps its pattern as long as its place holds its address; and blocks without a reference do not
//    pile up.
// Must not know: how the collector finds roots.
#include "black_box.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include <atomic>
#include <cerrno>
#include <initializer_list>
#include <iterator>

using namespace gr::black_box;

namespace {

constexpr std::size_t kBlock = 240;
constexpr unsigned char kPattern = 0x5a;
constexpr std::size_t kGarbage = std::size_t{256} << 20;
constexpr std::uint64_t kMostHeap = std::uint64_t{96} << 20;

[[gnu::noinline]] void *patterned(std::size_t bytes = kBlock) {
    return std::memset(opaque(std::malloc(bytes)), kPattern, bytes);
}

void expect_pattern(const void *block, const char *place, std::size_t bytes = kBlock) {
    for (std::size_t i = 0; i < bytes; ++i) {
        if (static_cast<const unsigned char *>(block)[i] != kPattern) leave(1, "lost: %s\n", place);
    }
}

// Whatever is collected meanwhile is handed out here again, and overwritten.
[[gnu::noinline]] void make_garbage(std::size_t bytes) {
    Sequence sequence(bytes);
    while (bytes != 0) {
        const std::size_t size = sequence.below(64) == 0 ? 40000 + sequence.below(100000) : 16 + sequence.below(1000);
        std::memset(opaque(std::malloc(size)), 0xa5, size);
        bytes -= bytes < size ? bytes : size;
    }
}

void *in_static;
const void *const *in_chain;
thread_local void *in_thread_local;
pthread_key_t key;
void **in_mapping;
void **in_constant_mapping;

// Sizes that fill a block; and the pointers past their ends, the only ones there are.
constexpr std::size_t kFilled[] = {16, 32, 48, 64, 128, 512, 1024, 4096, 65536, 300000};
constexpr std::size_t kOfEach = 20;
const char *past_end[std::size(kFilled)][kOfEach];

[[gnu::noinline]] void put_past_ends() {
    for (std::size_t i = 0; i < std::size(kFilled); ++i) {
        for (const char *&end : past_end[i]) end = static_cast<const char *>(patterned(kFilled[i])) + kFilled[i];
    }
    void *aligned = opaque(std::aligned_alloc(64, 64));
    std::memset(aligned, kPattern, 64);
    past_end[3][0] = static_cast<const char *>(aligned) + 64;
    void *const grown = opaque(std::realloc(patterned(16), 128));
    std::memset(grown, kPattern, 128);
    past_end[4][0] = static_cast<const char *>(grown) + 128;
    past_end[5][0] = static_cast<const char *>(std::memset(opaque(std::calloc(8, 64)), kPattern, 512)) + 512;
}

void expect_past_ends() {
    for (std::size_t i = 0; i < std::size(kFilled); ++i) {
        for (const char *end : past_end[i])
            expect_pattern(end - kFilled[i], "a block to whose end alone is pointed", kFilled[i]);
    }
}

struct Held {
    std::atomic<int> stage{0};
    pthread_t thread{};
};

constexpr std::size_t kStack = std::size_t{256} << 10;

void wait_for(Held &held, int stage) {
    while (held.stage.load() < stage) sched_yield();
}

// The thread's stack, thread-local variable and key.
void *hold(void *argument) {
    Held &held = *static_cast<Held *>(argument);
    in_thread_local = patterned();
    pthread_setspecific(key, patterned());
    void *const volatile on_stack = patterned();
    void *const volatile large = patterned(300000);
    held.stage = 1;
    wait_for(held, 2);
    expect_pattern(in_thread_local, "a thread-local variable of another thread");
    expect_pattern(pthread_getspecific(key), "a key of another thread");
    expect_pattern(on_stack, "another thread's stack");
    expect_pattern(large, "a large block", 300000);
    return patterned();
}

// Two, whose stacks are one mapping, and nothing between them.
void begin_side_by_side(Held (&held)[2]) {
    auto *const stacks = static_cast<char *>(
        mmap(nullptr, 2 * kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0));
    for (std::size_t i = 0; i < 2; ++i) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        pthread_attr_setstack(&attributes, stacks + i * kStack, kStack);
        if (pthread_create(&held[i].thread, &attributes, hold, &held[i]) != 0) leave(1, "pthread_create\n");
        pthread_attr_destroy(&attributes);
        wait_for(held[i], 1);
    }
}

void end(Held &held) {
    held.stage = 2;
    void *result = nullptr;
    pthread_join(held.thread, &result);
    expect_pattern(result, "a thread's result");
}

// Of a process whose first thread has ended nothing is mapped, if one asks for the process.
void *go_on_after_the_first(void *first) {
    pthread_join(*static_cast<pthread_t *>(first), nullptr);
    void *const volatile on_stack = patterned();
    make_garbage(kGarbage / 4);
    expect_pattern(on_stack, "a thread's stack after the first thread's end");
    expect_pattern(*in_chain, "another block, after the first thread's end");
    if (statistics().heap_bytes > kMostHeap) leave(1, "garbage piles up after the first thread's end\n");
    _exit(0);
}

// Else a thread could not be stopped, or the stop would be another's.
void expect_that_the_stop_stays_open() {
    sigset_t all;
    sigset_t before;
    sigset_t blocked;
    sigfillset(&all);
    for (const auto mask : {pthread_sigmask, sigprocmask}) {
        mask(SIG_BLOCK, &all, &before);
        mask(SIG_SETMASK, &before, &blocked);
        if (sigismember(&blocked, SIGUSR1) != 1) leave(1, "a signal is not blocked\n");
        if (sigismember(&blocked, SIGPWR) != 0) leave(1, "the stop's signal can be blocked\n");
    }
    struct sigaction ours {};
    struct sigaction ignored {};
    ignored.sa_handler = SIG_IGN;
    sigaction(SIGPWR, &ignored, nullptr);
    sigaction(SIGPWR, nullptr, &ours);
    if (ours.sa_handler == SIG_IGN) leave(1, "the stop's handler can be taken away\n");
}

// What was freed last is given first; where free does nothing it is not given while it is pointed to.
void expect_that_free_does_as_asked() {
    void *const freed = patterned();
    std::free(opaque(freed));
    void *const next = patterned();
    const bool ignored = std::strcmp(std::getenv("GRANARY_FREE"), "ignore") == 0;
    if ((opaque(next) != opaque(freed)) != ignored) leave(1, "free does not do what GRANARY_FREE says\n");
}

// The kernel tells it among what was written. Without guards, as before Linux 6.13, the page is one like any other.
void install_guard_beside(void **place) {
    constexpr int kInstallGuard = 102;  // MADV_GUARD_INSTALL
    constexpr std::size_t kPage = 4096;
    char *const next = reinterpret_cast<char *>(place) + kPage;
    *next = 1;
    madvise(next, kPage, kInstallGuard);
}

template <class Function>
Function in_library(void *library, const char *name) {
    return reinterpret_cast<Function>(dlsym(library, name));
}

}  // namespace

int main(int, char **argv) {
    require_granary();
    static char folder[4096];
    snprintf(folder, sizeof folder, "%.*s/gcmalloc_library.so", static_cast<int>(std::strrchr(argv[0], '/') - argv[0]),
             argv[0]);
    pthread_key_create(&key, nullptr);
    Held held;
    pthread_create(&held.thread, nullptr, hold, &held);
    wait_for(held, 1);
    Held beside[2];
    begin_side_by_side(beside);

    in_static = static_cast<char *>(patterned()) + kBlock / 2;
    auto **const chain = static_cast<const void **>(std::malloc(sizeof(void *)));
    *chain = patterned();
    in_chain = chain;
    in_mapping = static_cast<void **>(mmap(nullptr, std::size_t{1} << 30, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    in_mapping[1 << 20] = patterned();
    install_guard_beside(&in_mapping[1 << 20]);
    in_constant_mapping =
        static_cast<void **>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    in_constant_mapping[7] = patterned();
    mprotect(in_constant_mapping, 4096, PROT_READ);
    void *const library = dlopen(folder, RTLD_NOW);
    if (library == nullptr) leave(1, "%s\n", dlerror());
    in_library<void (*)(void *)>(library, "keep")(patterned());
    expect_that_the_stop_stays_open();
    expect_that_free_does_as_asked();
    put_past_ends();
    void *aligned = nullptr;
    if (posix_memalign(&aligned, 4096, kBlock) != 0) leave(1, "posix_memalign\n");
    std::memset(aligned, kPattern, kBlock);
    void *grown = patterned();
    grown = std::realloc(grown, std::size_t{8} << 20);
    errno = 77;
    make_garbage(kGarbage);
    if (errno != 77) leave(1, "errno was changed\n");

    expect_pattern(static_cast<char *>(in_static) - kBlock / 2, "a static variable, by a pointer inside");
    expect_pattern(*in_chain, "another block");
    expect_pattern(in_mapping[1 << 20], "mapped memory");
    expect_pattern(in_constant_mapping[7], "memory that is protected");
    expect_pattern(in_library<void *(*)()>(library, "kept")(), "a library's variable");
    expect_pattern(aligned, "the caller's stack");
    expect_pattern(grown, "the caller's stack, grown");
    expect_past_ends();
    for (Held *const one : {&held, &beside[0], &beside[1]}) end(*one);

    const pid_t child = fork();
    if (child == 0) {
        make_garbage(kGarbage / 4);
        expect_pattern(*in_chain, "another block, in fork's child");
        static pthread_t first = pthread_self();
        pthread_t other{};
        if (pthread_create(&other, nullptr, go_on_after_the_first, &first) != 0) _exit(2);
        pthread_exit(nullptr);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (status != 0) leave(1, "fork's child: %d\n", status);
    dlclose(library);
    make_garbage(kGarbage / 4);
    if (statistics().heap_bytes > kMostHeap) leave(1, "garbage piles up: %lu\n", statistics().heap_bytes);
    require_sound_heap();
    return 0;
}
