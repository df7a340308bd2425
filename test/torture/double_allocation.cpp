// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: hunts for a block given out twice: many threads that trim now and then, each interrupted by a 10 kHz
//    signal whose handler allocates, all on one CPU (pin), with their affinity flipped every 50 microseconds
//    (flip), or while another trims without end and so empties the magazines they are using (trim).
// Invariant: every block is claimed by an exchange that must find it unclaimed, and its contents hold until released.
// Must not know: how the allocator works; time decides only how long it runs.

#include "actor.hpp"
#include "cpus.hpp"
#include "program_options.hpp"

#include <malloc.h>
#include <sys/prctl.h>
#include <chrono>
#include <csignal>
#include <ctime>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace gr::test;

namespace {

struct Plan {
    std::string mode = "pin";
    unsigned seconds = 10;
    unsigned threads = 16;
    unsigned hertz = 10000;
};

constexpr unsigned kTurnsToATrim = 1U << 14;

std::atomic<bool> stopping = false;

struct Worker {
    Worker(size_t number, Claims &claims, Mailboxes &mailboxes)
        : actor(static_cast<Owner>(2 * number + 1), claims, mailboxes),
          handler_actor(static_cast<Owner>(2 * number + 2), claims, mailboxes) {}

    Actor actor;
    Actor handler_actor;
    std::atomic<uint64_t> signals = 0;
    std::atomic<pid_t> thread_id = 0;
};

thread_local Worker *interrupted_worker [[gnu::tls_model("initial-exec")]] = nullptr;

void on_signal(int) {
    const int saved_errno = errno;
    Worker &worker = *interrupted_worker;
    for (int turn = 0; turn < 4; ++turn) worker.handler_actor.step();
    worker.signals.fetch_add(1, std::memory_order_relaxed);
    errno = saved_errno;
}

// The timer belongs to the calling thread and is armed again only when its signal was taken, so that threads that
// wait for their turn cost nothing.
class ThreadTimer {
  public:
    explicit ThreadTimer(unsigned hertz) {
        if (hertz == 0) return;
        sigevent event = {};
        event.sigev_notify = SIGEV_THREAD_ID;
        event.sigev_signo = SIGRTMIN;
        event._sigev_un._tid = gettid();
        if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) fail("timer_create: %s", std::strerror(errno));
        armed_ = true;
        const timespec period = {hertz == 1 ? 1 : 0, hertz == 1 ? 0 : 1000000000L / static_cast<long>(hertz)};
        const itimerspec schedule = {period, period};
        if (timer_settime(timer_, 0, &schedule, nullptr) != 0) fail("timer_settime: %s", std::strerror(errno));
    }

    ~ThreadTimer() {
        if (armed_) timer_delete(timer_);
    }

  private:
    timer_t timer_ = nullptr;
    bool armed_ = false;
};

void work(Worker &worker, const Plan &plan) {
    interrupted_worker = &worker;
    worker.thread_id.store(gettid());
    {
        const ThreadTimer timer(plan.hertz);
        for (unsigned turn = 1; !stopping.load(std::memory_order_relaxed); ++turn) {
            worker.actor.step();
            if (turn % kTurnsToATrim == 0) malloc_trim(0);  // gives pages back beside blocks that others hold
        }
    }
    // A signal may still be pending; none is handled once it is blocked, and then both actors are ours.
    sigset_t signals;
    sigfillset(&signals);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    worker.actor.drop_all();
    worker.handler_actor.drop_all();
}

// Sends one worker after the other to another CPU until the time is over; returns how often.
uint64_t flip_affinity(const std::vector<std::unique_ptr<Worker>> &workers, const std::vector<int> &cpus,
                       std::chrono::steady_clock::time_point end) {
    // Without this the kernel adds another 50 microseconds of slack to every pause.
    prctl(PR_SET_TIMERSLACK, 1UL);
    uint64_t flips = 0;
    const timespec pause = {0, 50000};
    while (std::chrono::steady_clock::now() < end) {
        const pid_t thread = workers[flips % workers.size()]->thread_id.load();
        const size_t round = flips / workers.size();
        if (thread != 0) pin(thread, cpus[(flips + round) % cpus.size()]);
        ++flips;
        nanosleep(&pause, nullptr);
    }
    return flips;
}

// Until the time is over; returns how often.
uint64_t trim_again_and_again(std::chrono::steady_clock::time_point end) {
    uint64_t trims = 0;
    const timespec pause = {0, 50000};
    while (std::chrono::steady_clock::now() < end) {
        malloc_trim(0);
        ++trims;
        nanosleep(&pause, nullptr);
    }
    return trims;
}

void empty_mailboxes(Mailboxes &mailboxes, Actor &collector) {
    for (size_t box = 0; box < Mailboxes::kCount; ++box)
        if (const Parcel parcel = mailboxes.swap(box, Parcel())) collector.dispose(parcel);
}

// A run in which nothing happened proves nothing.
void report(const Plan &plan, const std::vector<std::unique_ptr<Worker>> &workers, uint64_t disturbances) {
    uint64_t operations = 0, handled = 0, received = 0, signals = 0;
    for (const std::unique_ptr<Worker> &worker : workers) {
        operations += worker->actor.operations();
        handled += worker->handler_actor.operations();
        received += worker->actor.received() + worker->handler_actor.received();
        signals += worker->signals.load();
    }
    dprintf(
        STDOUT_FILENO,
        "double_allocation %s: %lu operations, %lu in %lu signals, %lu blocks handed over, %lu flips or trims, rseq "
        "%s\n",
        plan.mode.c_str(), operations, handled, signals, received, disturbances, rseq_in_use() ? "on" : "off");
    if (operations == 0 || received == 0 || (plan.hertz != 0 && signals == 0))
        fail("double_allocation: the threads, the mailboxes or the signals did not run");
}

int run(const Plan &plan) {
    const std::vector<int> cpus = allowed_cpus();
    if (plan.mode == "flip" && cpus.size() < 2) {
        dprintf(STDOUT_FILENO, "double_allocation flip: skipped: it needs two CPUs\n");
        return kSkipped;
    }
    if (plan.mode == "pin") pin(0, cpus.front());
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    sigaction(SIGRTMIN, &action, nullptr);
    alarm(plan.seconds + 100);

    const auto claims = std::make_unique<Claims>();
    const auto mailboxes = std::make_unique<Mailboxes>();
    std::vector<std::unique_ptr<Worker>> workers;
    for (size_t number = 0; number < plan.threads; ++number)
        workers.push_back(std::make_unique<Worker>(number, *claims, *mailboxes));
    std::vector<std::thread> threads;
    for (const std::unique_ptr<Worker> &worker : workers)
        threads.emplace_back(work, std::ref(*worker), std::cref(plan));

    uint64_t disturbances = 0;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(plan.seconds);
    if (plan.mode == "flip")
        disturbances = flip_affinity(workers, cpus, end);
    else if (plan.mode == "trim")
        disturbances = trim_again_and_again(end);
    else
        std::this_thread::sleep_until(end);
    stopping = true;
    for (std::thread &thread : threads) thread.join();
    empty_mailboxes(*mailboxes, workers.front()->actor);
    report(plan, workers, disturbances);
    if (const std::optional<gr_statistics> snapshot = statistics()) {
        require_counting_equation(*snapshot);
        if (const char *fault = gr_debug_check()) fail("double_allocation: gr_debug_check: %s", fault);
    }
    return 0;
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    Plan plan;
    gr::bench::Options options("Hunts for a block that malloc gives out twice.");
    options.word("--mode", plan.mode, "pin: one CPU; flip: change affinity every 50 us; trim: trim every 50 us",
                 {"pin", "flip", "trim"});
    options.number("--seconds", plan.seconds, "how long to run");
    options.number("--threads", plan.threads, "worker threads", {1, 120});
    options.number("--hertz", plan.hertz, "signals a second to a running thread, 0: none", {0, 100000});
    if (!options.parse(argc, argv)) return options.exit_code();
    return run(plan);
}
