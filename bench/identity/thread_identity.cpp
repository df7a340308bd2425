// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what does it cost a thread to learn who it is? (Boehm's table of thread-local storage, for
//    today's ways.) Prints JSON: for each way the nanoseconds of a call, of calls in a row and of calls behind a
//    fence each, every round for itself; and its instructions in user space, counted one by one in a
//    child that is stepped through them.
// Invariant: before anything is timed every way is checked: on two threads at once it tells each the same again and
//    again and not what it tells the other, or the CPU that the thread is pinned to. All ways are timed in
//    every round, in an order that moves.
// Must not know: what an allocator does with the answer.
#include <pthread.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>
#include <barrier>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "way.hpp"

namespace {

using namespace gr::bench;

constexpr int kRounds = 31;
constexpr int kCalls = 1 << 18;

[[noreturn]] void fail(const char *what, const char *way) {
    std::fprintf(stderr, "thread-identity: %s: %s\n", way, what);
    std::exit(1);
}

std::vector<unsigned> allowed_cpus() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) fail("cannot be asked for", "affinity");
    std::vector<unsigned> cpus;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
    return cpus;
}

void pin(unsigned cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) fail("cannot be set", "affinity");
}

void check_cpu(const Way &way, const std::vector<unsigned> &cpus) {
    for (const unsigned cpu : cpus) {
        pin(cpu);
        if (way.get() != cpu) fail("tells another CPU than the thread is pinned to", way.name);
    }
}

void check_thread(const Way &way) {
    std::barrier both(2);
    Identity told[2]{};
    const auto ask = [&](int number) {
        const auto own = reinterpret_cast<Identity>(&told[number]);
        if (way.set != nullptr) way.set(own);
        both.arrive_and_wait();
        told[number] = way.get();
        both.arrive_and_wait();
        for (int again = 0; again < 1000; ++again)
            if (way.get() != told[number]) fail("tells another thing the next time", way.name);
        if (way.set != nullptr && told[number] != own) fail("tells not what was set", way.name);
    };
    std::thread other(ask, 1);
    ask(0);
    other.join();
    if (told[0] == told[1]) fail("tells two threads the same", way.name);
}

void call(const Way &way, long calls) {
    for (long i = 0; i < calls; ++i) {
        const Identity identity = way.get();
        asm volatile("" : : "r"(identity));
    }
}

// Waits until all that came before is done.
void fence() {
#ifdef __x86_64__
    asm volatile("lfence");
#else
    asm volatile("isb");
#endif
}

void call_alone(const Way &way, long calls) {
    for (long i = 0; i < calls; ++i) {
        const Identity identity = way.get();
        asm volatile("" : : "r"(identity));
        fence();
    }
}

double nanoseconds(void (*calls)(const Way &, long), const Way &way) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point start = Clock::now();
    calls(way, kCalls);
    return std::chrono::duration<double, std::nano>(Clock::now() - start).count() / kCalls;
}

void check(const std::vector<Way> &list) {
    const std::vector<unsigned> cpus = allowed_cpus();
    std::thread([&] {
        for (const Way &way : list)
            if (way.tells == Way::Tells::cpu) check_cpu(way, cpus);
    }).join();
    for (const Way &way : list)
        if (way.tells == Way::Tells::thread) check_thread(way);
}

// From where the child stops itself to its end.
long steps(const Way &way, long calls) {
    const pid_t child = fork();
    if (child < 0) fail("no process can be started", way.name);
    if (child == 0) {
        if (way.set != nullptr) way.set(1);
        ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
        std::raise(SIGSTOP);
        call(way, calls);
        _exit(0);
    }
    int status = 0;
    long count = 0;
    for (; waitpid(child, &status, 0) == child && WIFSTOPPED(status); ++count)
        if (ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) fail("cannot be stepped through", way.name);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) fail("did not end well when stepped through", way.name);
    return count;
}

long instructions(const Way &way) {
    constexpr long kSteppedCalls = 16;
    const long more = steps(way, 2 * kSteppedCalls) - steps(way, kSteppedCalls);
    if (more % kSteppedCalls != 0) fail("does not always take as many instructions", way.name);
    return more / kSteppedCalls;
}

// Nanoseconds of a call, in each round.
struct Times {
    std::vector<double> in_a_row;
    std::vector<double> alone;
};

std::vector<Times> time_all(const std::vector<Way> &list) {
    std::vector<Times> measured(list.size());
    for (std::size_t round = 0; round <= kRounds; ++round) {
        for (std::size_t i = 0; i < list.size(); ++i) {
            const std::size_t which = (round + i) % list.size();
            const double in_a_row = nanoseconds(call, list[which]);
            const double alone = nanoseconds(call_alone, list[which]);
            if (round == 0) continue;  // it warms up
            measured[which].in_a_row.push_back(in_a_row);
            measured[which].alone.push_back(alone);
        }
    }
    return measured;
}

void print(const char *name, const std::vector<double> &times) {
    const char *comma = "";
    std::printf(", \"%s\": [", name);
    for (const double time : times) std::printf("%s%.3f", std::exchange(comma, ", "), time);
    std::printf("]");
}

}  // namespace

int main() {
    const std::vector<Way> list = ways();
    check(list);
    pin(allowed_cpus().back());
    const std::vector<Times> times = time_all(list);
    const char *comma = "{";
    for (std::size_t which = 0; which < list.size(); ++which) {
        std::printf("%s\"%s\": {\"instructions\": %ld", std::exchange(comma, ",\n "), list[which].name,
                    instructions(list[which]));
        print("in_a_row", times[which].in_a_row);
        print("alone", times[which].alone);
        std::printf("}");
    }
    std::printf("}\n");
    return std::fflush(stdout) == 0 ? 0 : 1;
}
