// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that obtains and frees as many blocks as its first word says, in as many threads as its second says;
//    having made the file of its third word it first waits, and never sleeps, for the file of its fourth.
// Invariant: each thread makes the same calls; then the line "done" is printed.
// Must not know: what records it.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace {

long blocks = 0;

void *churn(void *) {
    constexpr std::size_t kSizes = 200;
    for (long i = 0; i < blocks; ++i) {
        void *volatile p = std::malloc(1 + static_cast<std::size_t>(i) % kSizes);
        std::free(p);
    }
    return nullptr;
}

void tell_and_wait(const char *begun, const char *go) {
    if (open(begun, O_CREAT | O_WRONLY | O_CLOEXEC, S_IRUSR) < 0) std::abort();
    while (access(go, F_OK) != 0) {
    }
}

}  // namespace

int main(int count, char **words) {
    blocks = count > 1 ? std::atol(words[1]) : 0;
    const long threads = count > 2 ? std::atol(words[2]) : 0;
    if (count > 4) tell_and_wait(words[3], words[4]);
    churn(nullptr);
    std::vector<pthread_t> started(static_cast<std::size_t>(threads));
    for (pthread_t &thread : started) {
        if (pthread_create(&thread, nullptr, churn, nullptr) != 0) return 3;
    }
    for (const pthread_t thread : started) pthread_join(thread, nullptr);
    return write(1, "done\n", 5) == 5 ? 0 : 4;
}
