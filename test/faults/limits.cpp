// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: life under RLIMIT_AS or RLIMIT_DATA: starts itself anew under the limit, allocates until it is refused,
//    frees half, allocates again, starts threads.
// Invariant: refusal is NULL and ENOMEM; what was freed can be had again; the program itself takes next to no memory.
// Must not know: how the library finds room.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <utility>

#include "require.hpp"
#include "sizes.hpp"

using namespace gr::test;

namespace {

constexpr size_t kThreadStack = 65536;
constexpr size_t kThreads = 4;

// Every block is a node of a list, so that the list takes no memory of its own.
struct Node {
    Node *next;
    size_t size;
};

struct Stack {
    Node *top = nullptr;
    size_t count = 0;
    size_t bytes = 0;

    void push(Node *node) {
        node->next = top;
        top = node;
        count += 1;
        bytes += node->size;
    }

    void free_all() {
        while (top != nullptr) std::free(std::exchange(top, top->next));
        count = bytes = 0;
    }
};

Node *allocate(size_t size) {
    errno = 0;
    auto *node = static_cast<Node *>(std::malloc(size));
    if (node != nullptr)
        node->size = size;
    else if (errno != ENOMEM)
        fail("malloc(%zu): refused with errno %d, expected ENOMEM", size, errno);
    return node;
}

size_t pick_size(Random &random) {
    const size_t number = random.below(kClassCount + 4);
    return number < kClassCount ? largest_of_class(number) : kRunSizes[number - kClassCount];
}

// Until not even the smallest block is granted: what is refused bounds what is asked for from then on, so that the sum
// does not depend on which size comes first when memory ends.
Stack fill() {
    Random random(1);
    Stack held;
    for (size_t refused = SIZE_MAX; refused > largest_of_class(0);) {
        const size_t size = pick_size(random);
        if (size >= refused) continue;
        if (Node *node = allocate(size))
            held.push(node);
        else
            refused = size;
    }
    return held;
}

// Frees every second block and remembers which sizes they had, by number of blocks.
struct Freed {
    Stack kept;
    size_t count = 0;
    size_t count_of_class[kClassCount + 4] = {};
};

size_t index_of(size_t size) {
    for (size_t number = 0; number < kClassCount; ++number)
        if (largest_of_class(number) == size) return number;
    for (size_t number = 0; number < 4; ++number)
        if (kRunSizes[number] == size) return kClassCount + number;
    fail("a block of %zu bytes was never asked for", size);
}

Freed free_half(Stack held) {
    Freed freed;
    for (bool keep = false; held.top != nullptr; keep = !keep) {
        Node *node = std::exchange(held.top, held.top->next);
        if (keep) {
            freed.kept.push(node);
            continue;
        }
        freed.count_of_class[index_of(node->size)] += 1;
        freed.count += 1;
        std::free(node);
    }
    return freed;
}

// What was just freed fits again: at most a tenth may be lost to rounding.
void refill(Freed &freed) {
    size_t granted = 0;
    for (size_t number = 0; number < kClassCount + 4; ++number)
        for (size_t turn = 0; turn < freed.count_of_class[number]; ++turn) {
            const size_t size = number < kClassCount ? largest_of_class(number) : kRunSizes[number - kClassCount];
            if (Node *node = allocate(size)) {
                freed.kept.push(node);
                granted += 1;
            }
        }
    if (granted < freed.count - freed.count / 10)
        fail("of %zu blocks just freed only %zu can be had again", freed.count, granted);
}

void *in_thread(void *) {
    Random random(2);
    for (int turn = 0; turn < 1000; ++turn) std::free(allocate(pick_size(random)));
    return nullptr;
}

void start_threads(const char *when) {
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, kThreadStack);
    pthread_t threads[kThreads];
    for (pthread_t &thread : threads)
        if (const int error = pthread_create(&thread, &attributes, in_thread, nullptr); error != 0)
            fail("pthread_create %s: %s", when, std::strerror(error));
    for (const pthread_t thread : threads) pthread_join(thread, nullptr);
    pthread_attr_destroy(&attributes);
}

void require_all_classes() {
    for (size_t number = 0; number < kClassCount + 4; ++number) {
        const size_t size = number < kClassCount ? largest_of_class(number) : kRunSizes[number - kClassCount];
        Node *node = allocate(size);
        if (node == nullptr) fail("malloc(%zu): refused although everything was freed", size);
        std::free(node);
    }
}

// Unused memory does not stand in the way of the program's own mappings.
void require_room_for_others(size_t bytes) {
    void *const mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) fail("mmap(%zu) after all was freed: %s", bytes, std::strerror(errno));
    munmap(mapping, bytes);
}

void live_under(size_t limit) {
    start_threads("before anything was allocated");
    Stack held = fill();
    const size_t first_count = held.count;
    const size_t first_bytes = held.bytes;
    if (first_bytes < limit / 16) fail("only %zu bytes were granted under a limit of %zu", first_bytes, limit);
    Freed freed = free_half(held);
    start_threads("after half was freed");
    refill(freed);
    freed.kept.free_all();
    start_threads("after all was freed");
    require_all_classes();
    held = fill();
    const size_t second_bytes = held.bytes;
    held.free_all();
    if (gr::black_box::expect_granary()) require_room_for_others(limit / 2);
    // A block that lies in another CPU's magazine keeps its superblock; of a small limit that can be a good part. And which
    // class is the first to be refused is luck: under the smallest limit one fill may be half of another.
    if (second_bytes < first_bytes / 4)
        fail("%zu bytes were granted at first, but only %zu after all was freed", first_bytes, second_bytes);
    dprintf(STDOUT_FILENO, "limit %zu: %zu blocks of %zu bytes granted, then %zu bytes\n", limit, first_count,
            first_bytes, second_bytes);
}

[[noreturn]] void start_under(const char *kind, size_t limit) {
    const rlimit bounds = {limit, limit};
    const bool address_space = std::strcmp(kind, "as") == 0;
    if (setrlimit(address_space ? RLIMIT_AS : RLIMIT_DATA, &bounds) != 0)
        fail("setrlimit to %zu bytes: %s", limit, std::strerror(errno));
    char bytes[32];
    std::snprintf(bytes, sizeof bytes, "%zu", limit);
    execl("/proc/self/exe", "limits", "under", bytes, nullptr);
    fail("exec of /proc/self/exe: %s", std::strerror(errno));
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) fail("usage: limits as|data MIB");
    const size_t number = std::strtoul(argv[2], nullptr, 10);
    if (std::strcmp(argv[1], "under") != 0) start_under(argv[1], number << 20);
    require_granary();
    alarm(100);
    live_under(number);
    return 0;
}
