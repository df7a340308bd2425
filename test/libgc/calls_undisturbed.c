/* SPDX-License-Identifier: Apache-2.0 OR MIT
 * What: system calls that a signal's handler ends early, in a thread that waits while another one collects: inside
 *    GC_do_blocking, and in a thread that the collector was not told of.
 * Invariant: the call ends when this test sends a signal of its own, and not before.
 * Must not know: how a collector stops threads.
 */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <errno.h>
#include <gc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>

#include "helper.h"

enum { kCollections = 20, kLong = 3600 }; /* seconds */

static volatile sig_atomic_t is_told;
static volatile pid_t task;
static const char *name;

static void hear(int number) {
    (void)number;
    is_told = 1;
}

static void wait_in_poll(void) { poll(NULL, 0, kLong * 1000); }
static void wait_in_ppoll(void) { ppoll(NULL, 0, &(struct timespec){kLong, 0}, NULL); }
static void wait_in_select(void) { select(0, NULL, NULL, NULL, &(struct timeval){kLong, 0}); }
static void wait_in_nanosleep(void) { nanosleep(&(struct timespec){kLong, 0}, NULL); }
static void wait_in_sleep(void) { sleep(kLong); }
static void wait_in_pause(void) { pause(); }
static void wait_in_semaphore(void) {
    sem_t semaphore;
    struct timespec end;
    sem_init(&semaphore, 0, 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += kLong;
    sem_timedwait(&semaphore, &end);
}
static void wait_in_epoll(void) {
    struct epoll_event event;
    int events = epoll_create1(EPOLL_CLOEXEC);
    epoll_wait(events, &event, 1, -1);
    close(events);
}
static void wait_in_sigwait(void) {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    sigwaitinfo(&wanted, NULL);
}
static void wait_in_recv(void) {
    int ends[2];
    char byte;
    CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "no sockets");
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){kLong, 0}, sizeof(struct timeval));
    CHECK(recv(ends[0], &byte, 1, 0) < 0, "something was received");
    close(ends[0]);
    close(ends[1]);
}
static void wait_in_epoll_for_a_time(void) {
    struct epoll_event event;
    int events = epoll_create1(EPOLL_CLOEXEC);
    epoll_wait(events, &event, 1, kLong * 1000);
    close(events);
}

#ifdef SYS_poll
enum { kPoll = SYS_poll, kSelect = SYS_select, kPause = SYS_pause, kEpoll = SYS_epoll_wait };
#else
enum { kPoll = SYS_ppoll, kSelect = SYS_pselect6, kPause = SYS_ppoll, kEpoll = SYS_epoll_pwait };
#endif

/* The numbers are those of the calls that libcs make for it. The kernel does not begin the last ones again after any
 * interruption. */
static const struct way {
    const char *name;
    void (*wait)(void);
    int only_blocking;
    int calls[2];
} ways[] = {
    {"poll", wait_in_poll, 0, {kPoll, SYS_ppoll}},
    {"ppoll", wait_in_ppoll, 0, {SYS_ppoll, SYS_ppoll}},
    {"select", wait_in_select, 0, {kSelect, SYS_pselect6}},
    {"nanosleep", wait_in_nanosleep, 0, {SYS_nanosleep, SYS_clock_nanosleep}},
    {"sleep", wait_in_sleep, 0, {SYS_nanosleep, SYS_clock_nanosleep}},
    {"pause", wait_in_pause, 0, {kPause, SYS_ppoll}},
    {"sem_timedwait", wait_in_semaphore, 0, {SYS_futex, SYS_futex}},
    {"epoll_wait", wait_in_epoll, 0, {kEpoll, SYS_epoll_pwait}},
    {"sigwaitinfo", wait_in_sigwait, 0, {SYS_rt_sigtimedwait, SYS_rt_sigtimedwait}},
    {"recv with a timeout", wait_in_recv, 1, {SYS_recvfrom, SYS_recvfrom}},
    {"epoll_wait with a timeout", wait_in_epoll_for_a_time, 1, {kEpoll, SYS_epoll_pwait}},
};

static void *wait_now(void *way) {
    ((const struct way *)way)->wait();
    CHECK(is_told, "%s ended before it was told to", name);
    return way;
}
static void *in_blocking(void *way) {
    struct GC_stack_base base;
    CHECK(GC_get_stack_base(&base) == GC_SUCCESS && GC_register_my_thread(&base) == GC_SUCCESS, "not registered");
    task = (pid_t)syscall(SYS_gettid);
    GC_do_blocking(wait_now, way);
    GC_unregister_my_thread();
    return way;
}
static void *unknown(void *way) {
    task = (pid_t)syscall(SYS_gettid);
    return wait_now(way);
}

static int waits_in(const struct way *way) {
    char path[64], text[64] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/syscall", task);
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    size_t read = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    if (read == 0 || text[0] < '0' || text[0] > '9') return 0;
    long call = strtol(text, NULL, 10);
    return call == way->calls[0] || call == way->calls[1] || call == SYS_restart_syscall;
}

static void check(const struct way *way, void *(*thread)(void *), const char *where) {
    static char text[80];
    pthread_t id;
    snprintf(text, sizeof text, "%s %s", way->name, where);
    name = text;
    task = 0;
    is_told = 0;
    CHECK(pthread_create(&id, NULL, thread, (void *)(uintptr_t)way) == 0, "no thread");
    while (task == 0 || !waits_in(way)) sched_yield();
    for (int i = 0; i < kCollections; ++i) {
        GC_gcollect();
        while (!waits_in(way)) sched_yield();
    }
    CHECK(pthread_kill(id, SIGUSR2) == 0 && pthread_join(id, NULL) == 0, "no end");
}

/* A thread that the collector was not told of is left alone, if the kernel lets a process trace another one. */
static int may_trace(void) {
    pid_t child = fork();
    if (child == 0) _exit(ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0 ? 0 : 1);
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(void) {
    struct sigaction action = {.sa_handler = hear};
    sigset_t blocked;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &blocked, NULL);
    CHECK(sigaction(SIGUSR2, &action, NULL) == 0, "sigaction failed");
    GC_INIT();
    GC_allow_register_threads();
    int others = may_trace();
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; ++i) {
        check(&ways[i], in_blocking, "inside GC_do_blocking");
        if (others && !ways[i].only_blocking) check(&ways[i], unknown, "of a thread that was not registered");
    }
    return 0;
}
