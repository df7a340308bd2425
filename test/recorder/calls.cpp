// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the program whose every call is known: one of the functions below, by its name.
// Invariant: what a function did it tells by Script, in the order in which it must have been recorded.
// Must not know: what records it.
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "script.hpp"

extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);
void *__libc_valloc(std::size_t);
void *__libc_pvalloc(std::size_t);
void __libc_free(void *);
[[gnu::weak]] void cfree(void *);
[[gnu::weak]] void free_sized(void *, std::size_t);
[[gnu::weak]] void free_aligned_sized(void *, std::size_t, std::size_t);
}

namespace {

constexpr unsigned kPageLogarithm = 12;

char own_path[1024];

void *told(unsigned kind, void *p, std::size_t size, unsigned above = 0) {
    Script::tell(kind, p, size, above);
    return p;
}

void give(void *p) {
    Script::tell(GR_RECORD_FREE, p, 0);
    free(p);
}

void *resized(void *p, std::size_t size) {
    const auto old = reinterpret_cast<std::uintptr_t>(p);
    void *const q = realloc(p, size);
    if (old != 0 && (q != nullptr || size == 0)) Script::tell(GR_RECORD_REALLOC_FREE, reinterpret_cast<void *>(old), 0);
    if (q != nullptr || size != 0) Script::tell(GR_RECORD_REALLOC, q, size);
    return q;
}

void family() {
    give(told(GR_RECORD_MALLOC, malloc(100), 100));
    give(told(GR_RECORD_MALLOC, malloc(0), 0));
    give(told(GR_RECORD_MALLOC, malloc(3000000), 3000000));
    give(told(GR_RECORD_CALLOC, calloc(3, 7), 21));
    give(told(GR_RECORD_ALIGNED_ALLOC, memalign(64, 10), 10, 6));
    give(told(GR_RECORD_ALIGNED_ALLOC, aligned_alloc(4096, 8192), 8192, 12));
    void *p = nullptr;
    if (posix_memalign(&p, 256, 5) != 0) abort();
    give(told(GR_RECORD_ALIGNED_ALLOC, p, 5, 8));
    give(told(GR_RECORD_ALIGNED_ALLOC, valloc(9), 9, kPageLogarithm));
    give(told(GR_RECORD_ALIGNED_ALLOC, pvalloc(9), 9, kPageLogarithm));
    p = resized(nullptr, 10);
    p = resized(p, 20);
    p = resized(p, 200000);
    p = resized(p, 5);
    resized(p, 0);
    p = told(GR_RECORD_REALLOC, reallocarray(nullptr, 3, 5), 15);
    give(p);
    free(nullptr);
}

void libcs() {
    const auto give_libcs = [](void *p) {
        Script::tell(GR_RECORD_FREE, p, 0);
        __libc_free(p);
    };
    give_libcs(told(GR_RECORD_MALLOC, __libc_malloc(33), 33));
    give_libcs(told(GR_RECORD_CALLOC, __libc_calloc(2, 3), 6));
    give_libcs(told(GR_RECORD_REALLOC, __libc_realloc(nullptr, 3), 3));
    give_libcs(told(GR_RECORD_ALIGNED_ALLOC, __libc_memalign(32, 3), 3, 5));
    give_libcs(told(GR_RECORD_ALIGNED_ALLOC, __libc_valloc(3), 3, kPageLogarithm));
    give_libcs(told(GR_RECORD_ALIGNED_ALLOC, __libc_pvalloc(3), 3, kPageLogarithm));
    void *p = told(GR_RECORD_MALLOC, malloc(1), 1);
    Script::tell(GR_RECORD_FREE, p, 0);
    free_sized(p, 1);
    p = told(GR_RECORD_ALIGNED_ALLOC, aligned_alloc(64, 64), 64, 6);
    Script::tell(GR_RECORD_FREE, p, 0);
    free_aligned_sized(p, 64, 64);
}

void failures() {
    volatile std::size_t much = SIZE_MAX / 2;
    constexpr std::uint64_t kMost = (std::uint64_t{1} << GR_RECORD_ALIGNMENT_SHIFT) - 1;
    errno = 0;
    told(GR_RECORD_MALLOC, malloc(much), kMost);
    if (errno != ENOMEM) abort();
    told(GR_RECORD_CALLOC, calloc(much, 4), kMost);
    void *p = told(GR_RECORD_MALLOC, malloc(10), 10);
    told(GR_RECORD_REALLOC, realloc(p, much), kMost);
    told(GR_RECORD_REALLOC, reallocarray(p, much, 4), kMost);
    void *out = &own_path[0];
    if (posix_memalign(&out, 64, much) != ENOMEM || out != &own_path[0]) abort();
    told(GR_RECORD_ALIGNED_ALLOC, nullptr, kMost, 6);
    if (posix_memalign(&out, 3, 10) != EINVAL || out != &own_path[0]) abort();
    told(GR_RECORD_ALIGNED_ALLOC, nullptr, 10, 1);
    told(GR_RECORD_NEW, ::operator new(much, std::nothrow), kMost);
    told(GR_RECORD_NEW_ARRAY, ::operator new[](much, std::nothrow), kMost);
    errno = 77;
    give(p);
    give(told(GR_RECORD_MALLOC, malloc(1), 1));
    if (errno != 77) abort();
}

void throws() {
    volatile std::size_t much = SIZE_MAX / 2;
    bool is_thrown = false;
    try {
        ::operator delete(::operator new(much));
    } catch (const std::bad_alloc &) {
        is_thrown = true;
    }
    if (!is_thrown) abort();
}

int handlers_left = 2;
void handler() {
    if (--handlers_left == 0) std::set_new_handler(nullptr);
}

// A handler that helps nothing, twice: three times nothing.
void new_handler() {
    volatile std::size_t much = SIZE_MAX / 2;
    constexpr std::uint64_t kMost = (std::uint64_t{1} << GR_RECORD_ALIGNMENT_SHIFT) - 1;
    std::set_new_handler(&handler);
    if (::operator new(much, std::nothrow) != nullptr) abort();
    for (int i = 0; i < 3; ++i) told(GR_RECORD_NEW, nullptr, kMost);
}

template <class Delete>
void deleted(unsigned kind, void *p, Delete give_back) {
    Script::tell(kind, p, 0);
    give_back(p);
}

void operators() {
    constexpr std::align_val_t kAlignment{64};
    constexpr unsigned kSix = 6;
    const auto one = [](void *p) { ::operator delete(p); };
    const auto array = [](void *p) { ::operator delete[](p); };
    deleted(GR_RECORD_DELETE, told(GR_RECORD_NEW, ::operator new(0), 0), one);
    deleted(GR_RECORD_DELETE, told(GR_RECORD_NEW, ::operator new(5), 5), [](void *p) { ::operator delete(p, 5); });
    deleted(GR_RECORD_DELETE, told(GR_RECORD_NEW, ::operator new(5, std::nothrow), 5),
            [](void *p) { ::operator delete(p, std::nothrow); });
    deleted(GR_RECORD_DELETE, told(GR_RECORD_NEW, ::operator new(5, kAlignment), 5, kSix),
            [](void *p) { ::operator delete(p, kAlignment); });
    deleted(GR_RECORD_DELETE, told(GR_RECORD_NEW, ::operator new(5, kAlignment, std::nothrow), 5, kSix),
            [](void *p) { ::operator delete(p, 5, kAlignment); });
    deleted(GR_RECORD_DELETE, told(GR_RECORD_NEW, ::operator new (5, std::align_val_t{2}), 5, 1),
            [](void *p) { ::operator delete(p, kAlignment, std::nothrow); });
    deleted(GR_RECORD_DELETE_ARRAY, told(GR_RECORD_NEW_ARRAY, ::operator new[](6), 6), array);
    deleted(GR_RECORD_DELETE_ARRAY, told(GR_RECORD_NEW_ARRAY, ::operator new[](6, std::nothrow), 6),
            [](void *p) { ::operator delete[](p, 6); });
    deleted(GR_RECORD_DELETE_ARRAY, told(GR_RECORD_NEW_ARRAY, ::operator new[](6), 6),
            [](void *p) { ::operator delete[](p, std::nothrow); });
    deleted(GR_RECORD_DELETE_ARRAY, told(GR_RECORD_NEW_ARRAY, ::operator new[](6, kAlignment), 6, kSix),
            [](void *p) { ::operator delete[](p, kAlignment); });
    deleted(GR_RECORD_DELETE_ARRAY, told(GR_RECORD_NEW_ARRAY, ::operator new[](6, kAlignment, std::nothrow), 6, kSix),
            [](void *p) { ::operator delete[](p, 6, kAlignment); });
    deleted(GR_RECORD_DELETE_ARRAY, told(GR_RECORD_NEW_ARRAY, ::operator new[](6, kAlignment), 6, kSix),
            [](void *p) { ::operator delete[](p, kAlignment, std::nothrow); });
    ::operator delete(nullptr);
    ::operator delete[](nullptr);
}

// The program's own mappings are not the allocator's.
void mappings() {
    void *const p = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || madvise(p, 8192, MADV_NORMAL) != 0 || madvise(p, 4096, MADV_DONTNEED) != 0) abort();
    Script::tell(GR_RECORD_OWN_MAP, p, 8192);
    Script::tell(GR_RECORD_OWN_ADVISE, p, 4096, MADV_DONTNEED);
    void *const q = mremap(p, 8192, 16384, MREMAP_MAYMOVE);
    if (q == MAP_FAILED || munmap(q, 16384) != 0) abort();
    Script::tell(GR_RECORD_OWN_UNMAP, p, 8192);
    Script::tell(GR_RECORD_OWN_MAP, q, 16384);
    Script::tell(GR_RECORD_OWN_UNMAP, q, 16384);
    errno = 0;
    if (munmap(reinterpret_cast<void *>(1), 1) != -1 || errno != EINVAL) abort();
    if (mmap(nullptr, 0, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED || errno != EINVAL) abort();
    void *const shared = mmap(nullptr, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    void *const reserved = mmap(nullptr, 1 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    Script::tell(GR_RECORD_OWN_MAP, shared, 4096, GR_RECORD_MAP_SHARED);
    Script::tell(GR_RECORD_OWN_MAP, reserved, 1 << 20, GR_RECORD_MAP_RESERVE);
    void *const end = sbrk(4096);
    if (end == reinterpret_cast<void *>(-1) || brk(end) != 0 || sbrk(0) != end) abort();
    Script::tell(GR_RECORD_OWN_BREAK, end, 4096);
    constexpr unsigned kSign = 255;
    Script::tell(GR_RECORD_OWN_BREAK, static_cast<char *>(end) + 4096, (std::uint64_t{1} << 56) - 4096, kSign);
}

void *named(void *) {
    free(malloc(77));
    pthread_setname_np(pthread_self(), "second");
    return nullptr;
}
void names() {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, named, nullptr) != 0) abort();
    pthread_join(thread, nullptr);
}

void *pairs(void *count) {
    for (auto left = reinterpret_cast<std::uintptr_t>(count); left != 0; --left) free(malloc(left));
    return nullptr;
}
void threads() {
    pthread_t two[2];
    for (pthread_t &thread : two) pthread_create(&thread, nullptr, pairs, reinterpret_cast<void *>(20000));
    for (const pthread_t thread : two) pthread_join(thread, nullptr);
}
void many_threads() {
    for (int i = 0; i < 1000; ++i) {
        pthread_t thread;
        pthread_create(&thread, nullptr, pairs, reinterpret_cast<void *>(3));
        pthread_join(thread, nullptr);
    }
}
void many_calls() { pairs(reinterpret_cast<void *>(50000)); }
void few_calls() { pairs(reinterpret_cast<void *>(500)); }

void wait_for(pid_t child) {
    int status = -1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) abort();
}

void forks() {
    void *const p = told(GR_RECORD_MALLOC, malloc(11), 11);
    const pid_t child = fork();
    if (child == 0) {
        free(p);
        free(malloc(22));
        _exit(0);
    }
    wait_for(child);
    give(p);
    give(told(GR_RECORD_MALLOC, malloc(33), 33));
}

// As libc knows nothing of it.
void clones() {
    void *const p = told(GR_RECORD_MALLOC, malloc(11), 11);
    const long child = syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr);
    if (child == 0) {
        free(malloc(22));
        free(malloc(23));
        syscall(SYS_exit_group, 0);
    }
    wait_for(static_cast<pid_t>(child));
    give(p);
}

// Children of a process whose other threads allocate, whatever those are just doing.
std::atomic<bool> is_over{false};
void *allocates(void *) {
    while (!is_over) pairs(reinterpret_cast<void *>(100));
    return nullptr;
}
void storm() {
    pthread_t two[2];
    for (pthread_t &thread : two) pthread_create(&thread, nullptr, allocates, nullptr);
    for (int i = 0; i < 100; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            pairs(reinterpret_cast<void *>(40));
            free(malloc(2222));
            _exit(0);
        }
        wait_for(child);
    }
    is_over = true;
    for (const pthread_t thread : two) pthread_join(thread, nullptr);
}

[[gnu::noinline]] void begin_program(const char *scene) {
    execl(&own_path[0], "calls", scene, nullptr);
    _exit(1);
}
void vforks() {
    give(told(GR_RECORD_MALLOC, malloc(11), 11));
    const pid_t child = vfork();
    if (child == 0) begin_program("pair");
    wait_for(child);
    give(told(GR_RECORD_MALLOC, malloc(12), 12));
}
void executes() {
    free(malloc(44));
    begin_program("pair");
}
void pair() { free(malloc(55)); }

volatile sig_atomic_t signals = 0;
void on_signal(int) {
    free(malloc(5));
    free(malloc(6));
    signals = signals + 1;
}
// From another thread, one for each step of the first, or its handlers would come before it gets on. The allocator must be
// one for handlers.
constexpr int kSignals = 1000;
std::atomic<std::uint64_t> steps{0};
std::atomic<bool> are_sent{false};
void *sends(void *thread) {
    for (int sent = 0; sent < kSignals; ++sent) {
        const std::uint64_t before = steps;
        pthread_kill(*static_cast<pthread_t *>(thread), SIGUSR1);
        while (signals <= sent || steps < before + 2) sched_yield();
    }
    are_sent = true;
    return nullptr;
}
void interrupted() {
    pthread_t self = pthread_self();
    struct sigaction action {};
    action.sa_handler = on_signal;
    sigaction(SIGUSR1, &action, nullptr);
    pthread_t sender;
    pthread_create(&sender, nullptr, sends, &self);
    while (!are_sent) {
        free(malloc(7));
        steps.fetch_add(1);
    }
    pthread_join(sender, nullptr);
    Script::tell(0, nullptr, steps);
    Script::tell(1, nullptr, static_cast<std::uint64_t>(signals));
}

void closes() {
    for (int fd = 3; fd < 1024; ++fd) close(fd);
    for (int fd = 3; fd < 16; ++fd) {
        if (open("/dev/null", O_RDONLY) != fd) abort();
    }
    threads();
}
void descriptors() {
    free(malloc(1));
    const int first = open("/dev/null", O_RDONLY);
    Script::tell(0, nullptr, static_cast<std::uint64_t>(first));
}

[[gnu::noinline]] void *innermost() {
    void *const p = malloc(66);
    asm volatile("" : : "r"(p) : "memory");
    return p;
}
void stacks() {
    Script::tell(GR_RECORD_MALLOC, reinterpret_cast<void *>(&innermost), 0);
    free(innermost());
}
// 10000 blocks of 1000 bytes.
void bytes() {
    for (int i = 0; i < 10000; ++i) free(malloc(1000));
}
void quick() {
    pair();
    quick_exit(0);
}
void at_once() {
    pair();
    _Exit(0);
}

constexpr struct {
    const char *name;
    void (*scene)();
} kScenes[] = {
    {"family", family},
    {"libcs", libcs},
    {"failures", failures},
    {"throws", throws},
    {"new_handler", new_handler},
    {"operators", operators},
    {"mappings", mappings},
    {"names", names},
    {"threads", threads},
    {"many_threads", many_threads},
    {"many_calls", many_calls},
    {"few_calls", few_calls},
    {"forks", forks},
    {"storm", storm},
    {"clones", clones},
    {"vforks", vforks},
    {"executes", executes},
    {"pair", pair},

    {"interrupted", interrupted},
    {"closes", closes},
    {"descriptors", descriptors},
    {"stacks", stacks},
    {"bytes", bytes},
    {"quick", quick},
    {"at_once", at_once},
};

}  // namespace

int main(int count, char **words) {
    if (count != 2 || readlink("/proc/self/exe", &own_path[0], sizeof own_path - 1) < 0) return 2;
    for (const auto &[name, scene] : kScenes) {
        if (std::strcmp(name, words[1]) != 0) continue;
        Script::begin();
        scene();
        Script::end();
        return 0;
    }
    return 2;
}
