// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that shuts itself in by seccomp after its start and goes on allocating in two threads.
// Invariant: refuse: what the library may do without is answered by EPERM, and reading the time stamp counter ends the
//    process; freed memory still goes back. ignore: madvise succeeds and does nothing, as under older emulators; calloc
//    still gives zeroes. kill: any call but the published few ends the process; so the library makes no other once it is
//    loaded. kill_trimming: one more is published, for malloc_trim.
// Must not know: when the library would make a call.
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <memory>
#include <vector>

#include "patient.hpp"

using namespace gr::test;

namespace {

const std::vector<long> kOptional = {
    SYS_madvise, SYS_membarrier, SYS_rseq, SYS_getrandom, SYS_sched_getaffinity, SYS_openat,
#ifdef SYS_open
    SYS_open,
#endif
};

// The first five are the library's; write and exit_group are this program's.
const std::vector<long> kPublished = {SYS_mmap,  SYS_munmap, SYS_mremap,    SYS_madvise,
                                      SYS_futex, SYS_write,  SYS_exit_group};

constexpr long kForTrim = SYS_membarrier;
bool trims = true;

constexpr sock_filter statement(uint16_t code, uint32_t value) { return {code, 0, 0, value}; }

// The listed calls get one answer, all others another.
std::vector<sock_filter> make_filter(const std::vector<long> &calls, uint32_t listed, uint32_t others) {
    std::vector<sock_filter> filter;
    filter.push_back(statement(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
    for (const long call : calls) {
        filter.push_back({BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<uint32_t>(call)});
        filter.push_back(statement(BPF_RET | BPF_K, listed));
    }
    filter.push_back(statement(BPF_RET | BPF_K, others));
    return filter;
}

// Applies to every thread of the process. Returns false where seccomp is not to be had.
bool enter(std::vector<sock_filter> &filter) {
    const sock_fprog program = {static_cast<uint16_t>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
}

std::atomic<int> phase = 0;

// Not std::atomic's own wait, which yields first and so would leave the list.
void wait_for(int wanted) {
    for (int seen = phase.load(); seen != wanted; seen = phase.load())
        syscall(SYS_futex, &phase, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
}

void enter_phase(int next) {
    phase.store(next);
    syscall(SYS_futex, &phase, FUTEX_WAKE_PRIVATE, 2, nullptr, nullptr, 0);
}

constexpr size_t kTurns = 100000;

void allocate(uint64_t seed) {
    const auto patient = std::make_unique<Patient>(seed);
    for (int round = 0; round < 10; ++round) {
        patient->churn(kTurns / 10, kSizeCount);
        patient->free_all();
        if (trims) malloc_trim(0);
    }
    if (patient->refusals() != 0) fail("%lu requests were refused", patient->refusals());
}

void require_memory_went_back() {
    constexpr size_t kMayStay = size_t{4} << 20;
    malloc_trim(0);
    const size_t retained = gr::black_box::statistics().retained_bytes;
    if (retained > kMayStay) fail("%zu empty bytes are still resident", retained);
}

// Started before the sandbox closes, since a thread's start needs calls of libc's own; never joined for that reason.
void *in_thread(void *) {
    enter_phase(1);
    wait_for(2);
    allocate(2);
    enter_phase(3);
    wait_for(4);
    return nullptr;
}

}  // namespace

int main(int argc, char **argv) {
    require_granary();
    const auto asked = [&](const char *kind) { return argc > 1 && std::strcmp(argv[1], kind) == 0; };
    const bool kill = asked("kill") || asked("kill_trimming");
    const bool ignore = asked("ignore");
    if (!kill && !ignore && !asked("refuse")) fail("usage: sandbox refuse|ignore|kill|kill_trimming");
    trims = !asked("kill");
    pthread_t thread;
    if (pthread_create(&thread, nullptr, in_thread, nullptr) != 0) fail("pthread_create failed");
    wait_for(1);
    alarm(100);
    std::vector<long> published = kPublished;
    if (trims) published.push_back(kForTrim);
    constexpr uint32_t kSuccess = SECCOMP_RET_ERRNO | 0;
    std::vector<sock_filter> filter = kill     ? make_filter(published, SECCOMP_RET_ALLOW, SECCOMP_RET_KILL_PROCESS)
                                      : ignore ? make_filter({SYS_madvise}, kSuccess, SECCOMP_RET_ALLOW)
                                               : make_filter(kOptional, SECCOMP_RET_ERRNO | EPERM, SECCOMP_RET_ALLOW);
    if (!enter(filter)) {
        dprintf(STDOUT_FILENO, "sandbox: skipped: seccomp: %s\n", std::strerror(errno));
        return kSkipped;
    }
    if (asked("refuse")) prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);  // unknown on other CPUs than x86
    enter_phase(2);
    allocate(1);
    wait_for(3);
    if (!every_size_is_granted()) fail("memory is refused in the sandbox");
    if (!kill) require_memory_went_back();
    constexpr char kPassed[] = "sandbox: passed\n";  // dprintf would ask for the file's status, which kills
    _exit(write(STDOUT_FILENO, kPassed, sizeof kPassed - 1) > 0 ? 0 : 1);
}
