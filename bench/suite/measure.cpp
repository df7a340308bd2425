// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: runs one command, perhaps with a library preloaded, and writes what it used as JSON to a file.
// Invariant: the launcher's own memory never shows: it is linked statically and smaller than any command it runs. The
//    command is stopped once only, when it ends, for its address space to be read.
// Must not know: which command, which malloc.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

using Clock = std::chrono::steady_clock;

struct Measured {
    double wall = 0;
    long peak_virtual_kib = 0;  // of the command itself; 0: it ended before it could be asked
    int status = 0;
    rusage usage{};  // of the command and all its children that it waited for
};

double seconds(const timeval &time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

bool write_report(const char *path, const Measured &m) {
    std::FILE *file = std::fopen(path, "w");
    if (file == nullptr) return false;
    std::fprintf(file, "{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_kib\": %ld, \"peak_virtual_kib\": %ld, ",
                 m.wall, seconds(m.usage.ru_utime) + seconds(m.usage.ru_stime), m.usage.ru_maxrss, m.peak_virtual_kib);
    std::fprintf(file, "\"minor_faults\": %ld, \"major_faults\": %ld, \"waits\": %ld, \"preemptions\": %ld}\n",
                 m.usage.ru_minflt, m.usage.ru_majflt, m.usage.ru_nvcsw, m.usage.ru_nivcsw);
    return std::fclose(file) == 0;
}

int fail(const char *what, int error) {
    std::fprintf(stderr, "measure: %s: %s\n", what, std::strerror(error));
    return 125;
}

// In KiB; 0: the process is gone.
long peak_virtual(pid_t child) {
    char path[64];
    std::snprintf(path, sizeof path, "/proc/%d/status", child);
    std::FILE *file = std::fopen(path, "r");
    if (file == nullptr) return 0;
    long kib = 0;
    char line[256];
    while (kib == 0 && std::fgets(line, sizeof line, file) != nullptr) std::sscanf(line, "VmPeak: %ld", &kib);
    std::fclose(file);
    return kib;
}

bool is_exit_stop(int status) { return WIFSTOPPED(status) && status >> 8 == (SIGTRAP | PTRACE_EVENT_EXIT << 8); }

// What a tracer must pass on: a signal that was on its way, or nothing.
int signal_of(int status) { return status >> 16 != 0 || WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status); }

// Becomes the command once the parent is ready to watch it.
[[noreturn]] void become(char **command, int gate) {
    char go = 0;
    if (read(gate, &go, 1) == 1) execvp(command[0], command);
    std::fprintf(stderr, "measure: %s: %s\n", command[0], std::strerror(errno));
    std::_Exit(125);
}

// false: the child cannot be waited for.
bool wait_for(pid_t child, Measured *m) {
    while (wait4(child, &m->status, 0, &m->usage) == child) {
        if (!WIFSTOPPED(m->status)) return true;
        if (is_exit_stop(m->status)) m->peak_virtual_kib = peak_virtual(child);
        ptrace(PTRACE_CONT, child, nullptr, signal_of(m->status));
    }
    return false;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 4) return std::fprintf(stderr, "usage: measure REPORT LIBRARY|- COMMAND [ARGUMENT...]\n"), 2;
    int gate[2];
    if (pipe2(gate, O_CLOEXEC) != 0) return fail("pipe2", errno);
    const pid_t child = fork();
    if (child < 0) return fail("fork", errno);
    if (child == 0) {
        if (std::strcmp(argv[2], "-") != 0) setenv("LD_PRELOAD", argv[2], 1);
        become(argv + 3, gate[0]);
    }
    // Without the trace the address space stays unknown, nothing else.
    ptrace(PTRACE_SEIZE, child, nullptr, PTRACE_O_TRACEEXIT);

    Measured m;
    const Clock::time_point began = Clock::now();
    if (write(gate[1], "", 1) != 1) return fail("write", errno);
    if (!wait_for(child, &m)) return fail("wait4", errno);
    m.wall = std::chrono::duration<double>(Clock::now() - began).count();

    if (!write_report(argv[1], m)) return fail(argv[1], errno);
    return WIFEXITED(m.status) ? WEXITSTATUS(m.status) : 128 + WTERMSIG(m.status);
}
