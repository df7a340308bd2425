// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      gr_statistics_every: who may ask, where the function runs, that it may do what is promised, that it has ended
//            when another has replaced it, and fork. "main_ends": the process ends although there is a function.
// Invariant: the test waits for what must happen, and no time decides.
// Must not know: how the library's thread sleeps.
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <atomic>
#include <string_view>

#include "own_thread.hpp"

using namespace gr::test;

namespace {

constexpr unsigned kLong = 3'600'000;  // an hour: it is never called

std::atomic<unsigned> calls = 0;
std::atomic<unsigned> other_calls = 0;
std::atomic<bool> may_go_on = false;
std::atomic<bool> is_inside = false;
std::atomic<bool> has_returned = false;
int some_context;

int stop_at_once(void *, void *, size_t) { return 5; }

void count(void *context, const gr_statistics *taken) {
    if (context != &some_context) fail("another context");
    if (syscall(SYS_gettid) != find_own_thread().id) fail("not on the library's thread");
    if (taken->size != sizeof *taken || taken->version != GR_STATISTICS_VERSION) fail("another size or version");
    require_counting_equation(*taken);
    if (taken->live_blocks == 0 || taken->resident_bytes == 0) fail("there is something, and it is resident");
    void *const block = std::malloc(100 + calls.load() * 1000);
    if (gr_heap_walk(nullptr, stop_at_once, nullptr) != 5) fail("no walk");
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (gr_statistics_print(nowhere, GR_PROMETHEUS) != 0) fail("not printed");
    close(nowhere);
    std::free(block);
    ++calls;
}

void count_otherwise(void *, const gr_statistics *) { ++other_calls; }

void remove_itself(void *, const gr_statistics *) {
    if (gr_statistics_every(0, nullptr, nullptr) != 0) fail("it cannot remove itself");
    ++other_calls;
}

void linger(void *, const gr_statistics *) {
    is_inside = true;
    while (!may_go_on.load()) sched_yield();
    if (has_returned.load()) fail("gr_statistics_every has returned before the function that it removes");
    is_inside = false;
}

void wait_for(const std::atomic<unsigned> &counter, unsigned more) {
    const unsigned wanted = counter.load() + more;
    while (counter.load() < wanted) sched_yield();
}

void *ask(void *result) {
    *static_cast<int *>(result) = gr_statistics_every(kLong, count, nullptr) == 0 ? 0 : errno;
    return nullptr;
}

void *remove_function(void *) {
    if (gr_statistics_every(0, nullptr, nullptr) != 0) fail("it is not removed");
    has_returned = true;
    return nullptr;
}

int asked_by_another_thread() {
    int error = -1;
    pthread_t thread;
    if (pthread_create(&thread, nullptr, ask, &error) != 0 || pthread_join(thread, nullptr) != 0)
        fail("pthread_create");
    return error;
}

void require_refusals() {
    errno = 0;
    if (gr_statistics_every(0, count, nullptr) != -1 || errno != EINVAL)
        fail("no milliseconds, but errno is %d", errno);
    if (gr_statistics_every(0, nullptr, nullptr) != 0) fail("there is none to remove, which is no error");
    if (asked_by_another_thread() != EPERM) fail("another thread than main's is the first");
    if (find_own_thread().id != 0) fail("there is a thread that nobody got");
}

void require_that_removal_waits() {
    may_go_on = has_returned = false;
    if (gr_statistics_every(1, linger, nullptr) != 0) fail("%s", std::strerror(errno));
    while (!is_inside.load()) sched_yield();
    pthread_t thread;
    if (pthread_create(&thread, nullptr, remove_function, nullptr) != 0) fail("pthread_create");
    // The child has neither the function nor the thread that is in it, and is not kept by either.
    const pid_t child = fork();
    if (child == 0) {
        if (find_own_thread().id != 0) fail("the child has the library's thread");
        if (asked_by_another_thread() != EPERM) fail("the child's first call comes from another thread than its first");
        if (gr_statistics_every(1, count, &some_context) != 0) fail("in the child: %s", std::strerror(errno));
        wait_for(calls, 2);
        _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) fail("the child ended with status %x", status);
    may_go_on = true;
    pthread_join(thread, nullptr);
    if (is_inside.load()) fail("the function still runs");
}

void test() {
    require_refusals();
    if (gr_statistics_every(1, count, &some_context) != 0) fail("%s", std::strerror(errno));
    wait_for(calls, 3);
    if (gr_statistics_every(1, count_otherwise, nullptr) != 0) fail("%s", std::strerror(errno));
    const unsigned before = calls.load();
    wait_for(other_calls, 3);
    if (calls.load() != before) fail("the first function was called after the second had replaced it");
    if (asked_by_another_thread() != 0) fail("there is a thread: anybody may ask");
    const unsigned others = other_calls.load();
    if (gr_statistics_every(1, remove_itself, nullptr) != 0) fail("%s", std::strerror(errno));
    wait_for(other_calls, 1);
    require_that_removal_waits();
    if (other_calls.load() != others + 1) fail("a function was called after it had removed itself");
    gr::black_box::require_sound_heap();
}

bool main_has_ended() {
    char path[64];
    char text[4096];
    std::snprintf(path, sizeof path, "/proc/self/task/%d/status", getpid());
    read_file(path, text);
    return std::strstr(text, "State:\tZ") != nullptr;
}

void *outlive_main(void *) {
    while (!main_has_ended()) sched_yield();
    return nullptr;
}

[[noreturn]] void end_main() {
    if (gr_statistics_every(kLong, count, nullptr) != 0) fail("%s", std::strerror(errno));
    pthread_t thread;
    if (pthread_create(&thread, nullptr, outlive_main, nullptr) != 0) fail("pthread_create");
    pthread_detach(thread);
    pthread_exit(nullptr);
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    alarm(50);
    if (argc == 2 && std::string_view(argv[1]) == "main_ends") end_main();
    test();
}
