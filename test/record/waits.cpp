// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program of one thread that waits in the system call of its first word, having made the file of its second: for
//    a byte from its standard input, or so long as it was to sleep.
// Invariant: it prints what the call returned, and its errno. "compute" seldom makes a system call, until the file of its
//    third word is there.
// Must not know: why it is waited for.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

long by_epoll() {
    const int set = epoll_create1(EPOLL_CLOEXEC);
    epoll_event event{};
    event.events = EPOLLIN;
    if (epoll_ctl(set, EPOLL_CTL_ADD, 0, &event) != 0) return -2;
    errno = 0;
    return epoll_wait(set, &event, 1, -1);
}

long by_poll() {
    pollfd query{0, POLLIN, 0};
    return poll(&query, 1, -1);
}

long by_ppoll() {
    pollfd query{0, POLLIN, 0};
    const timespec time{600, 0};
    sigset_t none;
    sigemptyset(&none);
    return ppoll(&query, 1, &time, &none);
}

long by_select() {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(0, &set);
    timeval time{600, 0};
    return select(1, &set, nullptr, nullptr, &time);
}

long by_read() {
    char byte = 0;
    return read(0, &byte, 1);
}

long by_recv() {
    char byte = 0;
    return recv(0, &byte, 1, 0);
}

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
bool is_told = false;

void *tell(void *) {
    by_read();
    pthread_mutex_lock(&lock);
    is_told = true;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&lock);
    return nullptr;
}

long by_condition() {
    pthread_t other{};
    if (pthread_create(&other, nullptr, tell, nullptr) != 0) return -2;
    pthread_mutex_lock(&lock);
    while (!is_told) pthread_cond_wait(&condition, &lock);
    pthread_mutex_unlock(&lock);
    return pthread_join(other, nullptr) == 0 ? 1 : -2;
}

long by_wait() {
    const pid_t child = fork();
    if (child == 0) _exit(by_read() == 1 ? 0 : 1);
    int status = 0;
    return waitpid(child, &status, 0) == child ? 1 : -1;
}

long by_sleep() {
    const timespec time{1, 500000000};
    return nanosleep(&time, nullptr) == 0 ? 1 : -1;
}

long by_signal() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, nullptr);
    const timespec time{600, 0};
    return sigtimedwait(&set, nullptr, &time) == SIGUSR1 ? 1 : -1;
}

// Numbers with a point are in registers that a call into it must not change.
long by_computing(const char *stop) {
    double sum = 0;
    double again = 0;
    constexpr long kRound = 1000000;
    for (long i = 1; i % kRound != 0 || access(stop, F_OK) != 0; ++i) {
        sum += static_cast<double>(i % kRound) * 0.5;
        again += static_cast<double>(i % kRound) * 0.5;
    }
    return sum == again ? 1 : -1;
}

struct Way {
    const char *name;
    long (*wait)();
};
constexpr Way kWays[] = {{"epoll_wait", by_epoll},   {"poll", by_poll},           {"ppoll", by_ppoll},
                         {"select", by_select},      {"read", by_read},           {"recv", by_recv},
                         {"wait", by_wait},          {"condition", by_condition}, {"nanosleep", by_sleep},
                         {"sigtimedwait", by_signal}};

}  // namespace

int main(int words, char **word) {
    if (words < 4) return 2;
    const int file = open(word[2], O_CREAT | O_WRONLY | O_CLOEXEC, S_IRUSR);
    if (file < 0) return 3;
    close(file);
    long result = -3;
    errno = 0;
    for (const Way &way : kWays) {
        if (std::strcmp(way.name, word[1]) == 0) result = way.wait();
    }
    if (std::strcmp(word[1], "compute") == 0) result = by_computing(word[3]);
    std::printf("%ld %d\n", result, result < 0 ? errno : 0);
    return 0;
}
