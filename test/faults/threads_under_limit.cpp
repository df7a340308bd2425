// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how many threads with the usual stacks a program can start under a limit on its address space, on Granary
//    and on the system malloc: at its start; after it has filled all there was, in one way or another, and freed
//    everything; and after it has loaded a library then.
// Invariant: each count is a process of its own, so that no stack that libc keeps is counted as free. Granary's is
//    compared with the system malloc's before anything was allocated; the system malloc often misses that afterwards.
// Must not know: how the heap takes and gives back addresses.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <utility>

#include "require.hpp"

using namespace gr::test;

namespace {

constexpr size_t kMiB = 1 << 20;
constexpr size_t kStack = 8 * kMiB;
constexpr int kMostThreads = 1024;

struct Node {
    Node *next;
};

// What the heap is filled with, and in which order it is freed.
enum class Order { newest_first, oldest_first, shuffled };
struct Load {
    const char *name;
    size_t least;
    size_t most;
    Order order;
    unsigned times = 1;       // it is filled and freed; a heap could keep what is taken again and again
    bool by_another = false;  // a thread on another CPU fills it: what is freed are foreign blocks
};
constexpr Load kLoads[] = {
    {"start", 0, 0, Order::newest_first},
    {"small", 64, 64, Order::newest_first},
    {"small-oldest", 64, 64, Order::oldest_first},
    {"small-shuffled", 64, 64, Order::shuffled},
    {"mixed", 16, 1024, Order::newest_first},
    {"mixed-oldest", 16, 1024, Order::oldest_first},
    {"mixed-shuffled", 16, 1024, Order::shuffled},
    {"mixed-again", 16, 1024, Order::newest_first, 4},
    {"medium", 16, 32768, Order::shuffled},
    {"medium-foreign", 16, 32768, Order::shuffled, 1, true},
    {"large", 100 * 1024, 9 * kMiB, Order::shuffled},
    {"huge", 4 * kMiB, 80 * kMiB, Order::oldest_first},
};

// Smaller ones once larger are refused, down to the least.
Node *fill(const Load &load, size_t *bytes) {
    Random random(1);
    Node *held = nullptr;
    for (size_t refused = load.most + 1; refused > load.least;) {
        const size_t size = load.least + random.below(refused - load.least);
        if (auto *const node = static_cast<Node *>(std::malloc(size))) {
            node->next = std::exchange(held, node);
            *bytes += size;
        } else {
            refused = size;
        }
    }
    return held;
}

void run_on(size_t cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    // If there is only one, or it may not be used, it is the same everywhere.
    static_cast<void>(sched_setaffinity(0, sizeof set, &set));
}

struct Filling {
    const Load &load;
    size_t *bytes;
    Node *held = nullptr;
};

// On a stack that is small, for libc keeps it.
Node *fill_by_another(const Load &load, size_t *bytes) {
    Filling filling{load, bytes};
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 64 * 1024);
    run_on(0);
    pthread_t thread;
    const auto work = [](void *argument) -> void * {
        auto &f = *static_cast<Filling *>(argument);
        run_on(1);
        f.held = fill(f.load, f.bytes);
        return nullptr;
    };
    if (const int error = pthread_create(&thread, &attributes, work, &filling); error != 0)
        fail("pthread_create: %s", std::strerror(error));
    pthread_join(thread, nullptr);
    return filling.held;
}

Node *reversed(Node *list) {
    Node *result = nullptr;
    while (list != nullptr) {
        Node *const node = std::exchange(list, list->next);
        node->next = std::exchange(result, node);
    }
    return result;
}

void free_all(Node *list) {
    while (list != nullptr) std::free(std::exchange(list, list->next));
}

void free_all(Node *list, Order order) {
    if (order == Order::oldest_first) list = reversed(list);
    if (order != Order::shuffled) return free_all(list);
    // Dealt into piles at random, pile after pile: hardly two neighbours follow each other.
    constexpr size_t kPiles = 4096;
    static Node *piles[kPiles];
    Random random(2);
    while (list != nullptr) {
        Node *const node = std::exchange(list, list->next);
        node->next = std::exchange(piles[random.below(kPiles)], node);
    }
    for (Node *&pile : piles) free_all(std::exchange(pile, nullptr));
}

pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

// No block before all are counted: the system malloc would reserve arenas for some of them, how many is luck.
void *wait_at_gate(void *) {
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    std::free(std::malloc(100));
    return nullptr;
}

int start_threads() {
    static pthread_t threads[kMostThreads];
    int count = 0;
    pthread_mutex_lock(&gate);
    while (count < kMostThreads && pthread_create(&threads[count], nullptr, wait_at_gate, nullptr) == 0) ++count;
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < count; ++i) pthread_join(threads[i], nullptr);
    return count;
}

// Says how many bytes were granted, whether the library could be loaded, and how many threads it started.
[[noreturn]] void live(const Load &load, const char *library) {
    size_t bytes = 0;
    for (unsigned i = 0; load.most != 0 && i < load.times; ++i) {
        bytes = 0;
        free_all(load.by_another ? fill_by_another(load, &bytes) : fill(load, &bytes), load.order);
    }
    const bool loaded = *library == '\0' || dlopen(library, RTLD_NOW | RTLD_LOCAL) != nullptr;
    const int threads = start_threads();
    dprintf(STDOUT_FILENO, "%zu %d %d\n", bytes / kMiB, loaded ? 1 : 0, threads);
    _exit(0);
}

struct Result {
    size_t mebibytes = 0;
    int loaded = 0;
    int threads = 0;
};

// In a process of its own under the limit; preload: the library or "".
Result measure(const char *preload, size_t mebibytes, const Load &load, const char *library) {
    int out[2];
    if (pipe(out) != 0) fail("pipe: %s", std::strerror(errno));
    const pid_t child = fork();
    if (child < 0) fail("fork: %s", std::strerror(errno));
    if (child == 0) {
        dup2(out[1], STDOUT_FILENO);
        preload[0] != '\0' ? setenv("LD_PRELOAD", preload, 1) : unsetenv("LD_PRELOAD");
        rlimit stack{};
        getrlimit(RLIMIT_STACK, &stack);
        stack.rlim_cur = kStack;
        const rlimit space = {mebibytes * kMiB, mebibytes * kMiB};
        if (setrlimit(RLIMIT_STACK, &stack) != 0 || setrlimit(RLIMIT_AS, &space) != 0)
            fail("setrlimit: %s", std::strerror(errno));
        const char *const kind = preload[0] != '\0' ? "live-on-granary" : "live";
        execl("/proc/self/exe", "threads_under_limit", kind, load.name, library, nullptr);
        fail("exec of /proc/self/exe: %s", std::strerror(errno));
    }
    close(out[1]);
    FILE *const answer = fdopen(out[0], "r");
    Result result;
    const int read = std::fscanf(answer, "%zu %d %d", &result.mebibytes, &result.loaded, &result.threads);
    std::fclose(answer);
    int status = 0;
    waitpid(child, &status, 0);
    if (read != 3 || status != 0)
        fail("%s under %zu MiB: the process ended with status %d", load.name, mebibytes, status);
    return result;
}

// The table of docs/results/raw/address-space.txt, or the first line in it that is too bad.
void compare(const char *preload, size_t mebibytes, const char *library, bool only_print) {
    const int wanted = measure("", mebibytes, kLoads[0], "").threads;
    if (only_print)
        std::printf(
            "limit %zu MiB: %d threads at the start of a program on the system malloc\n"
            "                 system: filled dlopen threads   granary: filled dlopen threads\n",
            mebibytes, wanted);
    for (const Load &load : kLoads) {
        const Result ours = measure(preload, mebibytes, load, library);
        if (only_print) {
            const Result system = measure("", mebibytes, load, library);
            std::printf("%-16s %5zu MiB %6s %4d     %5zu MiB %6s %4d\n", load.name, system.mebibytes,
                        system.loaded != 0 ? "yes" : "no", system.threads, ours.mebibytes,
                        ours.loaded != 0 ? "yes" : "no", ours.threads);
            continue;
        }
        if (ours.loaded == 0) fail("%zu MiB, %s: the library cannot be loaded", mebibytes, load.name);
        if (ours.threads * 10 < wanted * 9)
            fail("%zu MiB, %s: %d threads, %d on the system malloc at its start", mebibytes, load.name, ours.threads,
                 wanted);
    }
}

// A limit that the program raises later: its heap grows beyond what it was at the start.
void raise_limit(size_t mebibytes) {
    rlimit space{};
    getrlimit(RLIMIT_AS, &space);
    space.rlim_cur = mebibytes * kMiB;
    if (setrlimit(RLIMIT_AS, &space) != 0) fail("setrlimit: %s", std::strerror(errno));
    size_t bytes = 0;
    Node *const held = fill(kLoads[1], &bytes);
    if (bytes < mebibytes * kMiB / 4 * 3) fail("only %zu bytes were granted after the limit was raised", bytes);
    free_all(held);
    if (statistics()->reserved_bytes > mebibytes * kMiB / 4)
        fail("%lu bytes of addresses are kept", statistics()->reserved_bytes);
}

void require_death(const char *what, void *p) {
    const pid_t child = fork();
    if (child == 0) {
        close(STDERR_FILENO);
        std::free(p);
        _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT) fail("free of %s: status %d", what, status);
}

// Where the heap was, the program may have other memory now: no free may believe it to be a block, and it stays as it
// is when the heap grows again.
void map_into_hole() {
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    size_t bytes = 0;
    Node *const held = fill(kLoads[1], &bytes);
    // The newest ones may have been mapped one by one.
    const Node *block = held;
    for (size_t i = 0; i < bytes / kLoads[1].least / 2; ++i) block = block->next;
    void *const place = reinterpret_cast<void *>(reinterpret_cast<uintptr_t>(block) & ~(page - 1));
    free_all(held);
    char *const theirs = static_cast<char *>(
        mmap(place, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0));
    if (theirs != place) fail("the addresses of a block that was freed are still taken");
    std::memset(theirs, 7, page);
    if (gr_owns(theirs) != 0) fail("another's memory is believed to be a block");
    require_death("another's memory", theirs);
    require_death("another's memory, inside", theirs + 64);
    size_t again = 0;
    Node *const refilled = fill(kLoads[1], &again);
    if (again < bytes / 2) fail("%zu bytes were granted, then only %zu", bytes, again);
    for (size_t i = 0; i < page; ++i)
        if (theirs[i] != 7) fail("another's memory was written to");
    free_all(refilled);
}

[[noreturn]] void start_under(const char *kind, size_t soft, size_t hard) {
    const rlimit space = {soft * kMiB, hard * kMiB};
    if (setrlimit(RLIMIT_AS, &space) != 0) fail("setrlimit: %s", std::strerror(errno));
    execl("/proc/self/exe", "threads_under_limit", kind, nullptr);
    fail("exec of /proc/self/exe: %s", std::strerror(errno));
}

}  // namespace

int main(int argc, char **argv) {
    const char *const kind = argc > 1 ? argv[1] : "";
    if (std::strncmp(kind, "live", 4) == 0 && argc == 4) {
        if (std::strcmp(kind, "live") != 0) require_granary();
        for (const Load &load : kLoads)
            if (std::strcmp(load.name, argv[2]) == 0) live(load, argv[3]);
    }
    if (std::strcmp(kind, "raised") == 0) start_under("raise", 64, 512);
    if (std::strcmp(kind, "hole") == 0) start_under("map", 64, 64);
    if (std::strcmp(kind, "raise") == 0 || std::strcmp(kind, "map") == 0) {
        require_granary();
        kind[0] == 'r' ? raise_limit(256) : map_into_hole();
        return 0;
    }
    const bool only_print = std::strcmp(kind, "print") == 0;
    if (argc != 5 || (!only_print && std::strcmp(kind, "compare") != 0))
        fail("usage: threads_under_limit print|compare GRANARY LIBRARY MIB, or raised|hole on Granary");
    compare(argv[2], std::strtoul(argv[4], nullptr, 10), argv[3], only_print);
    return 0;
}
