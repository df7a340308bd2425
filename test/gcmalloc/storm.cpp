// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads that build lists, drop them and end, while others fork and block signals; nothing is freed.
// Invariant: each list holds what was put there, and all together no more memory than lives.
// Must not know: when it is collected.
#include "black_box.hpp"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

using namespace gr::black_box;

namespace {

constexpr unsigned kThreads = 4;
constexpr unsigned kRounds = 100;
constexpr unsigned kNodes = 20000;
constexpr std::uint64_t kMostHeap = std::uint64_t{160} << 20;

struct Node {
    Node *next;
    std::uint64_t number;
    char rest[48];
};

void build_and_look() {
    Node *first = nullptr;
    for (std::uint64_t i = 0; i < kNodes; ++i) {
        auto *const node = static_cast<Node *>(std::calloc(1, sizeof(Node)));
        if (node->next != nullptr || node->number != 0) leave(1, "calloc's memory is not zero\n");
        *node = {first, i, {}};
        first = node;
    }
    std::uint64_t expected = kNodes;
    for (const Node *node = first; node != nullptr; node = node->next) {
        if (node->number != --expected) leave(1, "a node was lost\n");
    }
    if (expected != 0) leave(1, "the list is short\n");
}

void *work(void *) {
    for (unsigned i = 0; i < kRounds; ++i) build_and_look();
    return nullptr;
}

// Also the stop's.
void *work_unstoppable(void *) {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);
    return work(nullptr);
}

}  // namespace

int main() {
    require_granary();
    signal(SIGPWR, SIG_DFL);
    pthread_t threads[kThreads];
    for (unsigned i = 0; i < kThreads; ++i)
        pthread_create(&threads[i], nullptr, i % 2 == 0 ? work : work_unstoppable, nullptr);
    for (unsigned i = 0; i < kThreads; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            build_and_look();
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) leave(1, "fork's child: %d\n", status);
    }
    for (pthread_t thread : threads) pthread_join(thread, nullptr);
    if (statistics().heap_bytes > kMostHeap) leave(1, "garbage piles up: %lu\n", statistics().heap_bytes);
    require_sound_heap();
    return 0;
}
