// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program of as many threads as its first word says, each of which makes as many blocks as its second word says and frees
//    them; when all have, it makes the file of its third word, and ends when the file of its fourth is there.
// Invariant: all threads live until then.
// Must not know: what records it.
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

namespace {

long blocks = 0;
pthread_barrier_t all_have_made;
pthread_barrier_t all_may_go;

void *churn(void *) {
    constexpr std::size_t kSizes = 200;
    for (long i = 0; i < blocks; ++i) {
        void *volatile p = std::malloc(1 + static_cast<std::size_t>(i) % kSizes);
        std::free(p);
    }
    pthread_barrier_wait(&all_have_made);
    pthread_barrier_wait(&all_may_go);
    return nullptr;
}

}  // namespace

int main(int count, char **words) {
    if (count != 5) return 2;
    constexpr useconds_t kPause = 1000;
    const auto threads = static_cast<unsigned>(std::atoi(words[1]));
    blocks = std::atol(words[2]);
    pthread_barrier_init(&all_have_made, nullptr, threads + 1);
    pthread_barrier_init(&all_may_go, nullptr, threads + 1);
    std::vector<pthread_t> started(threads);
    for (pthread_t &thread : started) {
        if (pthread_create(&thread, nullptr, churn, nullptr) != 0) return 3;
    }
    pthread_barrier_wait(&all_have_made);
    if (open(words[3], O_CREAT | O_WRONLY | O_CLOEXEC, S_IRUSR) < 0) return 4;
    while (access(words[4], F_OK) != 0) usleep(kPause);
    pthread_barrier_wait(&all_may_go);
    for (const pthread_t thread : started) pthread_join(thread, nullptr);
    return write(1, "done\n", 5) == 5 ? 0 : 4;
}
