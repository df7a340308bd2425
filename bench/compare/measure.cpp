// SPDX-License-Identifier: Apache-2.0 OR MIT
// What:      runs one command, perhaps with a library preloaded, and writes what it used as JSON to a file.
// Invariant: the launcher's own memory never shows: it is linked statically and smaller than any command it runs.
// Must not know: which command, which malloc.
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

double seconds(const timeval &time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

bool write_report(const char *path, double wall, const rusage &usage) {
    std::FILE *file = std::fopen(path, "w");
    if (file == nullptr) return false;
    const double cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    std::fprintf(file, "{\"seconds\": %.6f, \"cpu_seconds\": %.6f, \"peak_kib\": %ld}\n", wall, cpu, usage.ru_maxrss);
    return std::fclose(file) == 0;
}

int fail(const char *what, int error) {
    std::fprintf(stderr, "measure: %s: %s\n", what, std::strerror(error));
    return 125;
}

}  // namespace

int main(int argc, char **argv) {
    if (argc < 4) return std::fprintf(stderr, "usage: measure REPORT LIBRARY|- COMMAND [ARGUMENT...]\n"), 2;
    std::string preload = std::string("LD_PRELOAD=") + argv[2];
    std::vector<char *> environment;
    if (std::strcmp(argv[2], "-") != 0) environment.push_back(preload.data());
    for (char **variable = environ; *variable != nullptr; ++variable) environment.push_back(*variable);
    environment.push_back(nullptr);

    const Clock::time_point began = Clock::now();
    pid_t child = 0;
    if (const int error = posix_spawnp(&child, argv[3], nullptr, nullptr, argv + 3, environment.data()))
        return fail(argv[3], error);
    int status = 0;
    rusage usage{};
    if (wait4(child, &status, 0, &usage) != child) return fail("wait4", errno);
    const std::chrono::duration<double> wall = Clock::now() - began;

    if (!write_report(argv[1], wall.count(), usage)) return fail(argv[1], errno);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
