// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that loses blocks in ways that its functions are named for, as many as the names say, and keeps others.
// Invariant: SEED means what follows is lost: so many directly, so many that hang on these.
// Must not know: how leaks are found.
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

namespace {

struct Node {
    Node *next;
    char rest[56];
};

// Compilers write two pointers at once, by a vector register, which keeps them until it is used again.
void clear_vector_registers() {
#if defined(__x86_64__)
    asm volatile(".irp i, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15\n\tpxor %%xmm\\i, %%xmm\\i\n\t.endr"
                 :
                 :
                 : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                   "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

// Whatever was passed is in no register and on no stack any more, nor are blocks that a refill took for later.
[[gnu::noinline]] void clear_stack() {
    clear_vector_registers();
    volatile char junk[65536];
    for (volatile char &c : junk) c = 0;
    asm volatile("" : : : "memory");
}

Node *chain(unsigned length) {
    Node *first = nullptr;
    for (unsigned i = 0; i < length; ++i) {
        auto *const node = static_cast<Node *>(malloc(sizeof(Node)));
        node->next = first;
        first = node;
    }
    return first;
}

// As stacks of coroutines have them: an unreadable page of memory that malloc gave, and a page that only looks so.
void *with_guards(Node *kept) {
    constexpr size_t kPage = 4096;
    constexpr int kInstallGuard = 102;  // MADV_GUARD_INSTALL; before Linux 6.13 the page is one like any other
    void *p = nullptr;
    if (posix_memalign(&p, kPage, 6 * kPage) != 0) abort();
    auto *const bytes = static_cast<char *>(p);
    memset(bytes, 0, 6 * kPage);
    memcpy(bytes + 5 * kPage, &kept, sizeof kept);
    if (mprotect(bytes + kPage, kPage, PROT_NONE) != 0) abort();
    madvise(bytes + 3 * kPage, kPage, kInstallGuard);
    return p;
}

void *in_static;
thread_local void *in_thread_local;
pthread_key_t key;

}  // namespace

extern "C" {

[[gnu::noinline]] void seed_direct_1_0() { memset(malloc(100), 1, 100); }
[[gnu::noinline]] void seed_calloc_3_0() {
    for (int i = 0; i < 3; ++i) memset(calloc(10, 30), 1, 300);
}
[[gnu::noinline]] void seed_large_1_0() { memset(malloc(3000000), 1, 3000000); }
[[gnu::noinline]] void seed_realloc_1_0() { memset(realloc(malloc(10), 5000), 1, 5000); }
[[gnu::noinline]] void seed_aligned_1_0() {
    void *p = nullptr;
    if (posix_memalign(&p, 1024, 700) == 0) memset(p, 1, 700);
}
[[gnu::noinline]] void seed_new_1_0() { memset(new char[900], 1, 900); }
[[gnu::noinline]] void seed_chain_1_9() { chain(10); }
[[gnu::noinline]] void seed_cycle_1_4() {
    Node *const first = chain(5);
    Node *last = first;
    while (last->next != nullptr) last = last->next;
    last->next = first;
}
// Two cycles, the second of which points to the first.
[[gnu::noinline]] void seed_cycles_1_3() {
    Node *const inner = chain(2);
    inner->next->next = inner;
    Node *const outer = chain(2);
    outer->next->next = outer;
    *reinterpret_cast<Node **>(&outer->rest[0]) = inner;
}
[[gnu::noinline]] void seed_inside_1_1() {
    auto **const holder = static_cast<char **>(malloc(sizeof(char *)));
    *holder = static_cast<char *>(malloc(2000)) + 1000;
}
[[gnu::noinline]] void seed_guarded_1_3() { with_guards(chain(3)); }
[[gnu::noinline]] void *seed_thread_2_0(void *) {
    memset(malloc(60), 1, 60);
    memset(malloc(61), 1, 61);
    clear_stack();
    return nullptr;
}
[[gnu::noinline]] void *keep_in_thread(void *held) {
    in_thread_local = chain(3);
    pthread_setspecific(key, chain(3));
    Node *volatile on_stack = chain(3);
    clear_stack();
    pthread_barrier_wait(static_cast<pthread_barrier_t *>(held));
    while (on_stack != nullptr) pause();
    return nullptr;
}
}

namespace {

void lose(const char *library) {
    seed_direct_1_0();
    seed_calloc_3_0();
    seed_large_1_0();
    seed_realloc_1_0();
    seed_aligned_1_0();
    seed_new_1_0();
    seed_chain_1_9();
    seed_cycle_1_4();
    seed_cycles_1_3();
    seed_inside_1_1();
    seed_guarded_1_3();
    pthread_t thread{};
    pthread_create(&thread, nullptr, seed_thread_2_0, nullptr);
    pthread_join(thread, nullptr);
    void *const opened = dlopen(library, RTLD_NOW);
    if (opened == nullptr) abort();
    reinterpret_cast<void (*)()>(dlsym(opened, "seed_library_1_0"))();
    clear_stack();
}

// In fork's child libc clears the values of keys of threads that are not there.
void keep(bool with_thread) {
    in_static = with_guards(chain(100));
    in_thread_local = chain(100);
    pthread_key_create(&key, nullptr);
    pthread_setspecific(key, chain(100));
    for (int i = 0; i < 1000; ++i) free(chain(1));
    if (!with_thread) return;
    static pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, nullptr, 2);
    pthread_t thread{};
    pthread_create(&thread, nullptr, keep_in_thread, &barrier);
    pthread_barrier_wait(&barrier);
}

}  // namespace

// seeded LIBRARY [lose] [fork] [wait]
int main(int count, char **words) {
    bool waits = false;
    keep(count < 3 || strcmp(words[2], "fork") != 0);
    for (int i = 2; i < count; ++i) {
        if (strcmp(words[i], "lose") == 0) lose(words[1]);
        if (strcmp(words[i], "fork") == 0 && fork() == 0) {
            seed_direct_1_0();
            exit(0);
        }
        waits = waits || strcmp(words[i], "wait") == 0;
    }
    while (wait(nullptr) > 0) {
    }
    if (waits) {
        printf("%d\n", static_cast<int>(getpid()));
        fflush(stdout);
        char c = 0;
        if (read(0, &c, 1) < 0) return 1;
    }
    return 3;
}
