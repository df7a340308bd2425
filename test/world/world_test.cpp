// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads stopped wherever they are, and what is found of each: stack, registers, thread-local variables, keys.
// Invariant: what must be found is held nowhere else.
// Must not know: what a collector makes of it.
#include "platform/world/world.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "fake/sandbox.hpp"
#include "platform/syscall.hpp"
#include "platform/thread.hpp"
#include "platform/world/mappings.hpp"
#include "platform/world/modules.hpp"
#include "platform/world/tasks.hpp"
#include "platform/world/thread_record.hpp"
#include "platform/world/tracer.hpp"
#include "platform/world/waiting_call.hpp"

namespace gr::platform::world_test {

Mapping mapping_of_now(const void *p) {
    MappingTable table;
    EXPECT_TRUE(table.read());
    return table.of(p);
}

class WorldTest : public testing::Test {
  protected:
    void SetUp() override { ASSERT_TRUE(world_.initialise(SIGPWR)); }

    std::vector<StoppedThread> stopped() const {
        std::vector<StoppedThread> all;
        std::size_t at = 0;
        while (const StoppedThread *const thread = world_.next_stopped(&at)) all.push_back(*thread);
        return all;
    }

    World &world_ = world;
};

// Whether the kernel lets a process trace the one that began it.
bool may_trace() {
    const pid_t child = fork();
    if (child == 0) _exit(ptrace(PTRACE_SEIZE, getppid(), 0, 0) == 0 ? 0 : 1);
    int status = 0;
    return waitpid(child, &status, 0) == child && status == 0;
}

// Runs the test in a child where the kernel refuses to trace, as sandboxes may. Returns its exit code.
constexpr int kNotAvailable = 77;
template <class Test>
int in_sandbox(Test test) {
    const pid_t child = fork();
    if (child == 0) _exit(fake::forbid_tracing() ? test() : kNotAvailable);
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool holds(Range range, const void *wanted) {
    for (const char *at = range.begin; at + sizeof(void *) <= range.end; at += sizeof(void *)) {
        const void *word = nullptr;
        __builtin_memcpy(&word, at, sizeof word);
        if (word == wanted) return true;
    }
    return false;
}

Range stack_of(const StoppedThread &thread) {
    const char *const begin = thread.stack_pointer - reinterpret_cast<std::uintptr_t>(thread.stack_pointer) % 8;
    return {begin, mapping_of_now(thread.stack_pointer).end};
}

// Threads that run until they are told to end.
class Threads {
  public:
    explicit Threads(unsigned count) : counters_(count) {
        for (auto &counter : counters_) {
            threads_.emplace_back([this, &counter] {
                while (!end_.load(std::memory_order_relaxed)) counter.fetch_add(1, std::memory_order_relaxed);
            });
        }
        for (auto &counter : counters_) {
            while (counter.load() == 0) std::this_thread::yield();
        }
    }
    ~Threads() {
        end_.store(true);
        for (std::thread &thread : threads_) thread.join();
    }
    std::vector<std::uint64_t> counts() const { return {counters_.begin(), counters_.end()}; }

  private:
    std::atomic<bool> end_{false};
    std::vector<std::atomic<std::uint64_t>> counters_;
    std::vector<std::thread> threads_;
};

TEST_F(WorldTest, NobodyRunsUntilItGoesOn) {
    const Threads threads(20);
    for (int round = 0; round < 20; ++round) {
        ASSERT_TRUE(world_.stop({}));
        const auto before = threads.counts();
        for (int i = 0; i < 50; ++i) std::this_thread::yield();
        EXPECT_EQ(threads.counts(), before);
        EXPECT_EQ(stopped().size(), 20U);
        world_.resume();
        while (threads.counts() == before) std::this_thread::yield();
    }
}

TEST_F(WorldTest, ManyMoreThanBeforeAreStopped) {
    for (const unsigned count : {40U, 80U}) {
        const Threads threads(count);
        ASSERT_TRUE(world_.stop({}));
        EXPECT_EQ(stopped().size(), count);
        world_.resume();
    }
}

TEST_F(WorldTest, ThreadsThatComeAndGoMeanwhileAreStoppedOrGone) {
    std::atomic<bool> end{false};
    std::atomic<std::uint64_t> runs{0};
    std::vector<std::thread> makers;
    for (int i = 0; i < 4; ++i) {
        makers.emplace_back([&] {
            while (!end.load()) std::thread([&] { runs.fetch_add(1); }).join();
        });
    }
    for (int round = 0; round < 200; ++round) {
        ASSERT_TRUE(world_.stop({}));
        const std::uint64_t before = runs.load();
        for (int i = 0; i < 20; ++i) std::this_thread::yield();
        EXPECT_EQ(runs.load(), before);
        EXPECT_GE(stopped().size(), makers.size());
        world_.resume();
    }
    end.store(true);
    for (std::thread &maker : makers) maker.join();
}

// Each begins the next and ends: one that is missed goes on.
struct Chain {
    std::atomic<bool> end{false};
    std::atomic<std::uint64_t> runs{0};
    std::atomic<unsigned> chains{0};

    static void *run(void *self) {
        auto &chain = *static_cast<Chain *>(self);
        chain.runs.fetch_add(1);
        if (chain.end.load() || !chain.begin()) chain.chains.fetch_sub(1);
        return nullptr;
    }
    bool begin() {
        pthread_t next{};
        return pthread_create(&next, nullptr, run, this) == 0 && pthread_detach(next) == 0;
    }
};

TEST_F(WorldTest, ThreadsThatBeginOthersAreAllStopped) {
    static Chain chain;
    constexpr unsigned kChains = 4;
    chain.chains = kChains;
    for (unsigned i = 0; i < kChains; ++i) ASSERT_TRUE(chain.begin());
    for (int round = 0; round < 100; ++round) {
        ASSERT_TRUE(world_.stop({}));
        const std::uint64_t before = chain.runs.load();
        for (int i = 0; i < 50; ++i) std::this_thread::yield();
        EXPECT_EQ(chain.runs.load(), before) << world_.unstoppable() << " block the signal";
        world_.resume();
    }
    chain.end = true;
    while (chain.chains != 0) std::this_thread::yield();
}

// In a process of its own, for its first thread ends.
[[noreturn]] void *stop_after_the_first(void *) {
    while (!has_ended(static_cast<std::uint32_t>(getpid()))) std::this_thread::yield();
    const bool stopped = world.stop({});
    world.resume();
    _exit(stopped ? 0 : 1);
}

TEST_F(WorldTest, AFirstThreadThatHasEndedIsNotWaitedFor) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        pthread_t other{};
        if (pthread_create(&other, nullptr, stop_after_the_first, nullptr) != 0) _exit(2);
        syscall(SYS_exit, 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// As libc itself tells it to the thread; what lies beside it may belong to another.
void *compare_own_stack(void *) {
    ThreadRecords records;
    records.initialise();
    MappingTable mappings;
    EXPECT_TRUE(mappings.read());
    const Range stack = records.stack(thread_pointer(), mappings);
    pthread_attr_t attributes;
    void *begin = nullptr;
    std::size_t bytes = 0;
    EXPECT_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
    EXPECT_EQ(pthread_attr_getstack(&attributes, &begin, &bytes), 0);
    pthread_attr_destroy(&attributes);
    EXPECT_EQ(static_cast<const void *>(stack.begin), begin);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(stack.end), thread_pointer());
    EXPECT_TRUE(stack.contains(__builtin_frame_address(0)));
    return nullptr;
}

TEST_F(WorldTest, AThreadsStackIsThatOfLibc) {
    constexpr std::size_t kBytes = std::size_t{512} << 10;
    auto *const given =
        static_cast<char *>(mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    for (char *const begin : {static_cast<char *>(nullptr), given, given + kBytes}) {
        pthread_attr_t attributes;
        pthread_attr_init(&attributes);
        if (begin != nullptr) {
            ASSERT_EQ(pthread_attr_setstack(&attributes, begin, kBytes), 0);
        }
        pthread_t thread{};
        ASSERT_EQ(pthread_create(&thread, &attributes, compare_own_stack, nullptr), 0);
        pthread_join(thread, nullptr);
        pthread_attr_destroy(&attributes);
    }
    munmap(given, 2 * kBytes);
}

// The first thread has no memory any more, so the mappings of the asking thread are told.
[[noreturn]] void *look_after_the_first(void *) {
    while (!has_ended(static_cast<std::uint32_t>(getpid()))) std::this_thread::yield();
    MappingTable table;
    const int here = 0;
    const bool is_read = table.read() && table.of(&here).contains(&here);
    const bool is_asked = table.begin_asking() && table.of(&here).contains(&here);
    _exit(is_read && is_asked ? 0 : 1);
}

TEST_F(WorldTest, WhatIsMappedIsToldAfterTheFirstThreadsEnd) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        pthread_t other{};
        if (pthread_create(&other, nullptr, look_after_the_first, nullptr) != 0) _exit(2);
        syscall(SYS_exit, 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

void block_all() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
}

// 0: a thread that takes the stop's signal as one of its own, each time, ran on in each of two stops.
int stop_beside_one_that_takes_signals() {
    std::atomic<bool> begun{false};
    std::thread([&] {
        block_all();
        begun.store(true);
        sigset_t all;
        sigfillset(&all);
        for (int taken = 0;; sigwait(&all, &taken)) {
        }
    }).detach();
    while (!begun.load()) std::this_thread::yield();
    for (int round = 0; round < 2; ++round) {
        if (!world.stop({})) return 1;
        std::size_t at = 0;
        std::size_t unstoppable = 0;
        while (world.next_unstoppable(&at) != nullptr) ++unstoppable;
        world.resume();
        if (unstoppable != 1) return 2;
    }
    return 0;
}

TEST_F(WorldTest, WhoTakesAllSignalsAndCannotBeTracedIsNotWaitedForForEver) {
    const int result = in_sandbox(stop_beside_one_that_takes_signals);
    if (result == kNotAvailable) GTEST_SKIP() << "no sandbox";
    EXPECT_EQ(result, 0);
}

// 0: of a thread that blocks the signal and computes the stop says that it was not seen.
int stop_beside_one_that_computes() {
    std::atomic<std::uint32_t> id{0};
    std::thread([&] {
        block_all();
        id.store(task_of_caller());
        for (;;) asm volatile("");
    }).detach();
    while (id.load() == 0) std::this_thread::yield();
    const bool is_stopped = world.stop({});
    const bool is_told = world.unseen() == id.load() && world.unstoppable() == 1;
    world.resume();
    return is_stopped && is_told ? 0 : 1;
}

TEST_F(WorldTest, WhoComputesAndCannotBeStoppedIsTold) {
    const int result = in_sandbox(stop_beside_one_that_computes);
    if (result == kNotAvailable) GTEST_SKIP() << "no sandbox";
    EXPECT_EQ(result, 0);
}

TEST_F(WorldTest, AThreadThatBlocksTheSignalIsStopped) {
    if (!may_trace()) GTEST_SKIP() << "no ptrace";
    std::atomic<std::uint64_t> count{0};
    std::atomic<bool> end{false};
    std::thread thread([&] {
        block_all();
        while (!end.load()) count.fetch_add(1);
    });
    while (count.load() == 0) std::this_thread::yield();
    for (int round = 0; round < 20; ++round) {
        ASSERT_TRUE(world_.stop({}));
        const std::uint64_t before = count.load();
        for (int i = 0; i < 50; ++i) std::this_thread::yield();
        EXPECT_EQ(count.load(), before);
        EXPECT_EQ(stopped().size(), 1U);
        EXPECT_EQ(world_.unstoppable(), 0U);
        world_.resume();
        while (count.load() == before) std::this_thread::yield();
    }
    end.store(true);
    thread.join();
}

// The signal that ends the wait was sent while the thread stood. Outside the call the signal is blocked: a thread that is
// stopped on its way back into the call would handle it before, and wait for ever.
TEST_F(WorldTest, AThreadThatWaitsIsNotWokenButByItsOwnSignals) {
    if (!may_trace()) GTEST_SKIP() << "no ptrace";
    static std::atomic<bool> is_told;
    is_told = false;
    struct sigaction action {};
    action.sa_handler = [](int) { is_told = true; };
    ASSERT_EQ(sigaction(SIGUSR2, &action, nullptr), 0);
    std::atomic<std::uint32_t> id{0};
    std::atomic<int> result{0};
    std::atomic<bool> was_told{false};
    std::thread thread([&] {
        sigset_t told{};
        sigset_t before{};
        sigaddset(&told, SIGUSR2);
        pthread_sigmask(SIG_BLOCK, &told, &before);
        id.store(task_of_caller());
        result.store(ppoll(nullptr, 0, nullptr, &before) < 0 ? errno : 0);
        was_told.store(is_told);
    });
    while (id.load() == 0 || WaitingCall::of_thread(id.load()).number != SYS_ppoll) std::this_thread::yield();
    for (int round = 0; round < 20; ++round) {
        // After a stop the thread runs for a moment until it waits again.
        while (!WaitingCall::of_thread(id.load()).is_ended_by_handlers() && result.load() == 0)
            std::this_thread::yield();
        if (result.load() != 0) break;  // the stop before has woken it
        EXPECT_TRUE(world_.stop({}));
        EXPECT_EQ(stopped().size(), 1U);
        if (round == 19) pthread_kill(thread.native_handle(), SIGUSR2);
        world_.resume();
    }
    thread.join();
    EXPECT_EQ(result.load(), EINTR);
    EXPECT_TRUE(was_told.load());
}

// A thread that is traced stays listed after its end, until the process that traces it takes notice or ends.
class Tracing {
  public:
    explicit Tracing(std::uint32_t id) {
        if (pipe(begun_) != 0) return;
        child_ = fork();
        if (child_ == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            const char is_seized = ptrace(PTRACE_SEIZE, id, 0, 0) == 0 ? 1 : 0;
            if (write(begun_[1], &is_seized, 1) != 1) _exit(1);
            for (;;) pause();
        }
        char is_seized = 0;
        is_seized_ = read(begun_[0], &is_seized, 1) == 1 && is_seized == 1;
    }
    ~Tracing() {
        if (child_ > 0 && kill(child_, SIGKILL) == 0) waitpid(child_, nullptr, 0);  // -1 would be all processes
        close(begun_[0]);
        close(begun_[1]);
    }
    bool is_seized() const { return is_seized_; }

  private:
    int begun_[2] = {-1, -1};
    pid_t child_ = -1;
    bool is_seized_ = false;
};

// The kernel refuses to trace a thread that has ended. Threads that wait in a call are traced all the same, in that stop
// and in later ones.
TEST_F(WorldTest, AThreadThatHasEndedIsNoRefusal) {
    if (!may_trace()) GTEST_SKIP() << "no ptrace";
    constexpr int kStops = 5;
    std::atomic<std::uint32_t> id{0};
    std::atomic<bool> end{false};
    std::thread thread([&] {
        block_all();
        id.store(task_of_caller());
        while (!end.load()) std::this_thread::yield();
    });
    while (id.load() == 0) std::this_thread::yield();
    ASSERT_TRUE(world_.stop({}));
    world_.resume();
    const Tracing tracing(id.load());
    ASSERT_TRUE(tracing.is_seized());
    end.store(true);
    while (!has_ended(id.load())) std::this_thread::yield();
    for (int i = 0; i < kStops; ++i) {
        EXPECT_TRUE(world_.stop({}));
        EXPECT_EQ(world_.unstoppable(), 0U);
        world_.resume();
    }
    std::atomic<std::uint32_t> waiting{0};
    std::atomic<int> result{-1};
    int ended[2] = {-1, -1};
    ASSERT_EQ(pipe(ended), 0);
    std::thread waiter([&] {
        waiting.store(task_of_caller());
        pollfd descriptor{ended[0], POLLIN, 0};
        result.store(poll(&descriptor, 1, -1));
    });
    while (waiting.load() == 0 || !WaitingCall::of_thread(waiting.load()).is_ended_by_handlers()) {
        std::this_thread::yield();
    }
    EXPECT_TRUE(world_.stop({}));
    world_.resume();
    EXPECT_EQ(write(ended[1], "", 1), 1);
    waiter.join();
    EXPECT_EQ(result.load(), 1);
    thread.join();
    close(ended[0]);
    close(ended[1]);
}

// The kernel may give the id of a thread that has ended to another process.
TEST(TracerTest, AThreadOfAnotherProcessIsGoneAndGoesOn) {
    if (!may_trace()) GTEST_SKIP() << "no ptrace";
    int told[2] = {-1, -1};
    ASSERT_EQ(pipe(told), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(told[1]);
        char byte = 0;
        _exit(read(told[0], &byte, 1) == 1 ? 0 : 1);
    }
    Tracer tracer;
    ASSERT_TRUE(tracer.ask(static_cast<std::uint32_t>(child)));
    EXPECT_TRUE(tracer.stop_asked());
    ASSERT_EQ(tracer.answers().size(), 1U);
    ASSERT_EQ(tracer.answers()[0].answer, TracedThread::Answer::gone);
    EXPECT_EQ(write(told[1], "", 1), 1);
    int status = -1;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    tracer.let_go();
    tracer.end();
    close(told[0]);
    close(told[1]);
}

TEST_F(WorldTest, AThreadThatRestsRunsButDoesNotComeBackBeforeTheEnd) {
    std::atomic<const char *> resting_at{nullptr};
    std::atomic<bool> may_come_back{false};
    std::atomic<bool> is_back{false};
    char *stack_end = reinterpret_cast<char *>(&stack_end);
    std::thread thread([&] {
        KnownThread known(&stack_end);
        world_.add(known);
        known.begin_rest(static_cast<const char *>(__builtin_frame_address(0)));
        resting_at.store(known.stack_pointer());
        while (!may_come_back.load()) std::this_thread::yield();
        known.end_rest();
        is_back.store(true);
        while (may_come_back.load()) std::this_thread::yield();
        world_.remove(known);
    });
    while (resting_at.load() == nullptr) std::this_thread::yield();
    ASSERT_TRUE(world_.stop({}));
    const auto all = stopped();
    ASSERT_EQ(all.size(), 1U);
    EXPECT_EQ(all[0].stack_pointer, resting_at.load());
    EXPECT_EQ(all[0].stack_end, stack_end);
    EXPECT_EQ(all[0].handle, thread.native_handle());
    may_come_back.store(true);
    for (int i = 0; i < 50; ++i) std::this_thread::yield();
    EXPECT_FALSE(is_back.load());
    world_.resume();
    while (!is_back.load()) std::this_thread::yield();
    may_come_back.store(false);
    thread.join();
}

// The kernel gives the next thread the id behind the last one, which root may set.
bool set_next_id(std::uint32_t id) {
    const int file = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
    if (file < 0) return false;
    const std::string last = std::to_string(id - 1);
    const bool is_set = write(file, last.data(), last.size()) == static_cast<ssize_t>(last.size());
    close(file);
    return is_set;
}

void mask(int how) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPWR);
    pthread_sigmask(how, &signals, nullptr);
}

// One thread ends after it was called. Another one, which keeps the stop waiting meanwhile, begins a thread with the id
// of the first when the stop has noticed that.
int stop_while_an_id_is_given_anew() {
    constexpr auto kManyLooks = std::chrono::milliseconds(100);
    std::atomic<std::uint32_t> id{0};
    std::atomic<bool> is_ready{false};
    std::atomic<bool> end{false};
    std::atomic<int> has_id_of_first{-1};
    std::thread first([&] {
        mask(SIG_BLOCK);
        id.store(task_of_caller());
        sigset_t waiting;
        do {
            sigpending(&waiting);
        } while (sigismember(&waiting, SIGPWR) == 0);
    });
    std::thread second([&] {
        mask(SIG_BLOCK);
        is_ready.store(true);
        while (id.load() == 0) {
        }
        while (syscall(SYS_tgkill, getpid(), id.load(), 0) == 0) {
        }
        const auto begin = std::chrono::steady_clock::now();
        while (std::chrono::steady_clock::now() - begin < kManyLooks) {
        }
        const bool is_set = set_next_id(id.load());
        std::thread third([&] {
            has_id_of_first.store(is_set && task_of_caller() == id.load() ? 1 : 0);
            mask(SIG_UNBLOCK);
            while (!end.load()) std::this_thread::yield();
        });
        while (has_id_of_first.load() < 0) {
        }
        mask(SIG_UNBLOCK);
        third.join();
    });
    while (id.load() == 0 || !is_ready.load()) std::this_thread::yield();
    const bool is_stopped = world.stop({});
    const std::uint32_t count = world.stopped();
    world.resume();
    end.store(true);
    first.join();
    second.join();
    if (has_id_of_first.load() != 1) return kNotAvailable;
    return is_stopped && count == 2 ? 0 : 1;
}

// Where ids are this test's own, so that those of other processes are not given anew.
int stop_where_ids_are_own() {
    if (unshare(CLONE_NEWPID | CLONE_NEWNS) != 0) return kNotAvailable;
    const pid_t child = fork();
    if (child == 0) {
        const bool has_proc = mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                              mount("proc", "/proc", "proc", 0, nullptr) == 0;
        _exit(has_proc ? in_sandbox(stop_while_an_id_is_given_anew) : kNotAvailable);
    }
    int status = 0;
    return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(WorldTest, AThreadWithTheIdOfOneThatEndedMeanwhileIsStopped) {
    const pid_t child = fork();
    if (child == 0) _exit(stop_where_ids_are_own());
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    const int result = WEXITSTATUS(status);
    if (result == kNotAvailable)
        GTEST_SKIP() << "no namespace or sandbox, or the kernel gives the id to no thread here";
    EXPECT_EQ(result, 0);
}

// Its numbers are not those that the process's own namespace has.
TEST_F(WorldTest, ProcOfAnotherNamespaceStopsNobody) {
    constexpr int kNoNamespace = 77;
    const pid_t child = fork();
    if (child == 0) {
        if (unshare(CLONE_NEWPID) != 0) _exit(kNoNamespace);
        const pid_t inside = fork();
        if (inside == 0) _exit(world.stop({}) ? 1 : 0);
        int status = 0;
        _exit(waitpid(inside, &status, 0) == inside && WIFEXITED(status) ? WEXITSTATUS(status) : 2);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    if (WEXITSTATUS(status) == kNoNamespace) GTEST_SKIP() << "no namespaces";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The kernel's list of threads as it is when a thread ends while it is listed. The calling thread's first list has only
// the first thread.
class ListThatEndsEarly {
  public:
    // false: the kernel lets no process handle its own system calls.
    static bool begin() {
        struct sigaction action {};
        action.sa_sigaction = list;
        action.sa_flags = SA_SIGINFO;
        sock_filter steps[] = {
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getdents64, 0, 3),
            BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[5])),
            BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kByHandler, 1, 0),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
            BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const sock_fprog program{std::size(steps), &steps[0]};
        return sigaction(SIGSYS, &action, nullptr) == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
               prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
    }
    static bool has_ended_early() { return lists_ > 1; }

  private:
    static constexpr std::uint32_t kByHandler = 0x4c697374;
    static constexpr long kOffsetOfBytes = 16;  // in an entry of a folder
    static constexpr int kFirst = 3;            // ".", ".." and the first thread

#if defined(__x86_64__)
    static long argument(const ucontext_t &at, int i) {
        constexpr int kRegisters[] = {REG_RDI, REG_RSI, REG_RDX};
        return static_cast<long>(at.uc_mcontext.gregs[kRegisters[i]]);
    }
    static void set_result(ucontext_t &at, long result) { at.uc_mcontext.gregs[REG_RAX] = result; }
#else
    static long argument(const ucontext_t &at, int i) { return static_cast<long>(at.uc_mcontext.regs[i]); }
    static void set_result(ucontext_t &at, long result) { at.uc_mcontext.regs[0] = static_cast<std::uint64_t>(result); }
#endif

    static void list(int, siginfo_t *, void *context) {
        auto &at = *static_cast<ucontext_t *>(context);
        const long bytes =
            raw_syscall(SYS_getdents64, argument(at, 0), argument(at, 1), argument(at, 2), 0, 0, kByHandler);
        const auto *const entries = reinterpret_cast<const char *>(argument(at, 1));
        long end = 0;
        for (int i = 0; i < kFirst && end < bytes; ++i) {
            std::uint16_t entry = 0;
            __builtin_memcpy(&entry, entries + end + kOffsetOfBytes, sizeof entry);
            end += entry;
        }
        set_result(at, lists_ == 0 ? end : lists_ == 1 ? 0 : bytes);
        ++lists_;
    }

    static inline int lists_ = 0;
};

// In a process of its own. The list ends before the thread that stops the others.
int stop_by_a_list_that_ends_early() {
    int result = 1;
    const Threads before(1);
    std::thread([&] {
        const Threads behind(1);
        if (!ListThatEndsEarly::begin()) {
            result = kNotAvailable;
            return;
        }
        if (!world.stop({})) return;
        std::size_t at = 0;
        unsigned count = 0;
        while (world.next_stopped(&at) != nullptr) ++count;
        world.resume();
        result = count == 3 && ListThatEndsEarly::has_ended_early() ? 0 : 2;
    }).join();
    return result;
}

TEST_F(WorldTest, AListThatEndsBeforeTheCallerIsReadAgain) {
    const pid_t child = fork();
    if (child == 0) _exit(stop_by_a_list_that_ends_early());
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << status;
    if (WEXITSTATUS(status) == kNotAvailable) GTEST_SKIP() << "no sandbox";
    EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST_F(WorldTest, NobodyIsStoppedIfOneCannotBeCalled) {
    const pid_t child = fork();
    if (child == 0) {
        const Threads threads(2);
        const rlimit none{};
        if (!world.initialise(SIGRTMIN + 6) || setrlimit(RLIMIT_SIGPENDING, &none) != 0) _exit(2);
        _exit(world.stop({}) ? 1 : 0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

// 0: stopped, and the limit is what it was; 1: not stopped.
int stop_with_files(rlim_t soft, rlim_t hard) {
    const Threads threads(2);
    const rlimit few{soft, hard};
    rlimit after{};
    if (!world.initialise(SIGPWR) || setrlimit(RLIMIT_NOFILE, &few) != 0) return 2;
    if (!world.stop({})) return 1;
    MappingTable table;
    const bool is_known = table.read() && table.begin_asking();
    table.end_asking();
    world.resume();
    const bool is_as_before = getrlimit(RLIMIT_NOFILE, &after) == 0 && after.rlim_cur == soft && after.rlim_max == hard;
    return is_known && is_as_before && open("/dev/null", O_RDONLY) < 0 ? 0 : 3;
}

TEST_F(WorldTest, WithoutADescriptorLeftItIsStoppedAsFarAsTheProcessMayHaveMore) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EXIT(_exit(stop_with_files(3, before.rlim_max)), testing::ExitedWithCode(0), "");
    EXPECT_EXIT(_exit(stop_with_files(0, 0)), testing::ExitedWithCode(1), "");
}

TEST_F(WorldTest, ASignalThatTheProgramInheritedBlockedIsUnblocked) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGPWR);
    ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &signals, nullptr), 0);
    ASSERT_TRUE(world_.initialise(SIGPWR));
    const Threads threads(2);
    ASSERT_TRUE(world_.stop({}));
    EXPECT_EQ(stopped().size(), 2U);
    EXPECT_EQ(world_.unstoppable(), 0U);
    world_.resume();
}

TEST_F(WorldTest, WhoIsExemptRuns) {
    std::atomic<std::uint32_t> id{0};
    std::atomic<std::uint64_t> count{0};
    std::atomic<bool> end{false};
    std::thread exempt([&] {
        id.store(task_of_caller());
        while (!end.load()) count.fetch_add(1);
    });
    while (id.load() == 0) std::this_thread::yield();
    const std::uint32_t ids[] = {id.load()};
    ASSERT_TRUE(world_.stop(ids));
    const std::uint64_t before = count.load();
    while (count.load() == before) std::this_thread::yield();
    EXPECT_TRUE(stopped().empty());
    world_.resume();
    end.store(true);
    exempt.join();
}

// The value is made in the register from its complement, so that it lies nowhere else.
#if defined(__x86_64__)
#define GR_HOLD_IN(load, name)                                                                          \
    void hold_in_##name(std::uintptr_t hidden, std::atomic<int> *ready, const std::atomic<bool> *end) { \
        asm volatile("notq %[value]\n\t" load                                                           \
                     "\n\txorl %%eax, %%eax\n\tmovl $1, (%[ready])\n"                                   \
                     "1:\tpause\n\tcmpb $0, (%[end])\n\tje 1b\n\t"                                      \
                     : [value] "+r"(hidden)                                                             \
                     : [ready] "r"(ready), [end] "r"(end)                                               \
                     : "rax", "r12", "r15", "xmm9", "memory");                                          \
    }
GR_HOLD_IN("movq %[value], %%r12\n\txorq %[value], %[value]", r12)
GR_HOLD_IN("movq %[value], %%r15\n\txorq %[value], %[value]", r15)
GR_HOLD_IN("movq %[value], %%xmm9\n\txorq %[value], %[value]", xmm9)

bool is_register_found(void (*hold)(std::uintptr_t, std::atomic<int> *, const std::atomic<bool> *), bool blocks) {
    auto wanted = std::make_unique<int>(7);
    const std::uintptr_t hidden = ~reinterpret_cast<std::uintptr_t>(wanted.get());
    std::atomic<int> ready{0};
    std::atomic<bool> end{false};
    std::thread thread([&, hidden] {
        if (blocks) block_all();
        hold(hidden, &ready, &end);
    });
    while (ready.load() == 0) std::this_thread::yield();
    EXPECT_TRUE(world.stop({}));
    bool found = false;
    std::size_t at = 0;
    while (const StoppedThread *const stopped = world.next_stopped(&at))
        found = holds(blocks ? stopped->registers : stack_of(*stopped), wanted.get());
    world.resume();
    end.store(true);
    thread.join();
    return found;
}

TEST_F(WorldTest, RegistersAreFoundOnTheStack) {
    for (const auto hold : {hold_in_r12, hold_in_r15, hold_in_xmm9}) EXPECT_TRUE(is_register_found(hold, false));
}

TEST_F(WorldTest, RegistersOfATracedThreadAreTold) {
    if (!may_trace()) GTEST_SKIP() << "no ptrace";
    for (const auto hold : {hold_in_r12, hold_in_r15, hold_in_xmm9}) EXPECT_TRUE(is_register_found(hold, true));
}
#endif

thread_local const void *volatile of_this_thread = nullptr;

TEST_F(WorldTest, ThreadLocalVariablesAndValuesOfKeysAreFound) {
    static ThreadRecords records;
    records.initialise();
    ASSERT_TRUE(records.knows_thread_locals());
    ASSERT_TRUE(records.knows_keys());
    std::vector<pthread_key_t> keys(100);
    for (pthread_key_t &key : keys) ASSERT_EQ(pthread_key_create(&key, nullptr), 0);
    int variable = 0;
    std::vector<int> values(keys.size());
    std::atomic<bool> ready{false};
    std::atomic<bool> end{false};
    std::thread thread([&] {
        of_this_thread = &variable;
        for (std::size_t i = 0; i < keys.size(); ++i) pthread_setspecific(keys[i], &values[i]);
        ready.store(true);
        while (!end.load()) std::this_thread::yield();
    });
    while (!ready.load()) std::this_thread::yield();
    static Modules modules;
    bool stopped_all = false;
    ASSERT_TRUE(modules.learn([](void *done) { return *static_cast<bool *>(done) = world.stop({}); }, &stopped_all));
    ASSERT_TRUE(stopped_all);
    const auto all = stopped();
    ASSERT_EQ(all.size(), 1U);
    const auto found = [&](const void *wanted) {
        bool any = false;
        records.for_each_range(all[0].thread_pointer, modules, [&](Range range) { any = any || holds(range, wanted); });
        return any;
    };
    EXPECT_TRUE(found(&variable));
    std::size_t missing = 0;
    for (const int &value : values) missing += found(&value) ? 0 : 1;
    EXPECT_EQ(missing, 0U);
    world_.resume();
    end.store(true);
    thread.join();
    for (const pthread_key_t key : keys) pthread_key_delete(key);
}

TEST(MappingTableTest, AStackOfWhichAPageIsLockedIsOne) {
    const std::size_t page = page_size();
    alignas(4096) char pages[5 * 4096];
    ASSERT_EQ(page, 4096U);
    ASSERT_EQ(madvise(&pages[page], page, MADV_DONTDUMP), 0);
    ASSERT_EQ(madvise(&pages[3 * page], page, MADV_DONTDUMP), 0);
    const Mapping whole = mapping_of_now(&pages[0]);
    EXPECT_TRUE(whole.contains(&pages[5 * page - 1]));
    EXPECT_TRUE(whole.contains(__builtin_frame_address(0)));
    EXPECT_EQ(mapping_of_now(&pages[2 * page]).begin, whole.begin);
}

// Whether it was asked or all was read must make no difference, with what is not mapped and with mappings that are one.
TEST(MappingTableTest, AskedAboutItSaysWhatItReads) {
    const std::size_t page = page_size();
    auto *const pages =
        static_cast<char *>(mmap(nullptr, 8 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(pages, MAP_FAILED);
    ASSERT_EQ(mprotect(&pages[2 * page], page, PROT_NONE), 0);
    ASSERT_EQ(madvise(&pages[4 * page], page, MADV_DONTDUMP), 0);
    ASSERT_EQ(munmap(&pages[6 * page], page), 0);
    MappingTable read;
    MappingTable asked;
    ASSERT_TRUE(read.read());
    ASSERT_TRUE(asked.begin_asking());
    for (std::size_t i = 0; i < 8; ++i) {
        const Mapping expected = read.of(&pages[i * page]);
        const Mapping found = asked.of(&pages[i * page]);
        EXPECT_EQ(found.begin, expected.begin) << i;
        EXPECT_EQ(found.end, expected.end) << i;
        EXPECT_EQ(found.readable, expected.readable) << i;
        EXPECT_EQ(found.writable, expected.writable) << i;
        EXPECT_EQ(found.is_private, expected.is_private) << i;
    }
    EXPECT_EQ(asked.of(&pages[4 * page]).begin, &pages[3 * page]);
    EXPECT_EQ(asked.of(&pages[6 * page]).begin, nullptr);
    asked.end_asking();
    EXPECT_EQ(munmap(pages, 8 * page), 0);
}

// Of the program's variables the loader's own word is not needed.
TEST_F(WorldTest, ThreadLocalVariablesBesideTheThreadPointerAreFoundWithoutTheirModule) {
    static ThreadRecords records;
    records.initialise();
    static const Modules none;
    int variable = 0;
    of_this_thread = &variable;
    bool found = false;
    records.for_each_range(thread_pointer(), none, [&](Range range) { found = found || holds(range, &variable); });
    EXPECT_TRUE(found);
    of_this_thread = nullptr;
    found = false;
    records.for_each_range(thread_pointer(), none, [&](Range range) { found = found || holds(range, &variable); });
    EXPECT_FALSE(found);
}

const void *in_data = &in_data;

TEST_F(WorldTest, VariablesOfTheProgramAndItsLibrariesAreFound) {
    static Modules modules;
    ASSERT_TRUE(modules.learn([](void *) { return true; }, nullptr));
    std::size_t with = 0;
    for (const Range range : modules.variables()) {
        EXPECT_TRUE(mapping_of_now(range.begin).writable);
        with += range.contains(&in_data) ? 1 : 0;
    }
    EXPECT_EQ(with, 1U);
    EXPECT_GE(modules.variables().size(), 2U) << "libc's, too";
}

}  // namespace gr::platform::world_test
