// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Question: what does a workload lose because its threads share one heap? The same work is done by so many
//    processes of one thread: whatever mt-gcbench does worse is lost to sharing, in the allocator or below it.
//    Source: Boehm, "Fast multiprocessor memory allocation and garbage collection", "gc process": copies of the
//    benchmark with one thread, thread-safe still, run concurrently as separate processes. There it is a
//    collector that is measured, here any allocator. The text says nothing of how they are started or timed.
//    Each is the program mt-gcbench, unless another is named, with --threads 1, its share of --ops, a seed of
//    its own, and further words; it inherits the preloaded allocator. An operation is the program's own. The
//    clock runs from before the first is started to the last report, so it has a few milliseconds of loading in
//    it, against a second or so for an iteration of mt-gcbench; other programs need --seconds or --ops that are
//    as long.
//    processes_peak_kib is the sum of each process's own peak of resident memory: what they share, as the code
//    of libraries, counts in each, and the peaks need not coincide.
// Invariant: verifies that each process ended with exit code 0, thus found its own blocks right, and did its share.
// Must not know: which malloc it runs on; what the work is.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <sstream>

#include "workload.hpp"

namespace {

using namespace gr::bench;

// Starts the command with its standard output in a pipe.
pid_t start(std::vector<std::string> command, int output) {
    std::vector<char *> words;
    for (std::string &word : command) words.push_back(word.data());
    words.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    pid_t child = 0;
    const int error = posix_spawn(&child, words[0], &actions, nullptr, words.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) fail("separate-processes: %s: %s", words[0], std::strerror(error));
    return child;
}

// What the command printed until it ended well.
std::string output_of(const std::vector<std::string> &command) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) fail("separate-processes: pipe2: %s", std::strerror(errno));
    const pid_t child = start(command, ends[1]);
    close(ends[1]);
    std::string output;
    char part[512];
    for (ssize_t length = 0; (length = read(ends[0], part, sizeof part)) > 0;)
        output.append(part, static_cast<std::size_t>(length));
    close(ends[0]);
    int status = 0;
    if (waitpid(child, &status, 0) != child) fail("separate-processes: waitpid: %s", std::strerror(errno));
    if (status != 0) fail("separate-processes: %s ended with wait status %d", command.front().c_str(), status);
    return output;
}

// Of a workload's report, which is flat.
std::uint64_t figure(const std::string &report, const std::string &key) {
    const std::string opening = "\"" + key + "\": ";
    const std::size_t at = report.find(opening);
    if (at == std::string::npos) fail("separate-processes: no %s in %s", key.c_str(), report.c_str());
    return std::strtoull(report.c_str() + at + opening.size(), nullptr, 10);
}

std::vector<std::string> command_of(const std::string &program, const std::string &words, const Settings &settings,
                                    const Worker &worker) {
    const bool timed = settings.seconds > 0;
    std::vector<std::string> command = {program,
                                        "--threads",
                                        "1",
                                        timed ? "--seconds" : "--ops",
                                        timed ? std::to_string(settings.seconds) : std::to_string(worker.left()),
                                        "--seed",
                                        std::to_string(settings.seed + worker.index)};
    std::istringstream further(words);
    for (std::string word; further >> word;) command.push_back(word);
    return command;
}

}  // namespace

int main(int argc, char **argv) {
    std::string program = std::filesystem::read_symlink("/proc/self/exe").replace_filename("mt-gcbench");
    Workload processes("separate-processes", "The same work in processes of one thread each.",
                       {.threads = 4, .seconds = 10});
    processes.options().file("--program", program, "path of the workload; mt-gcbench beside this one unless given");
    std::string words;
    processes.options().text("--words", words, "what else the program is told: --words='--form second'");
    if (!processes.parse(argc, argv)) return processes.exit_code();
    const Settings &settings = processes.settings();
    std::vector<std::uint64_t> peaks(settings.threads);
    processes.run([&](Worker &worker) {
        if (!worker.more()) return;  // fewer operations than processes
        const std::string report = output_of(command_of(program, words, settings, worker));
        worker.did(figure(report, "operations"));
        if (settings.operations != 0 && worker.left() != 0)
            fail("separate-processes: %s did not do its share", program.c_str());
        peaks[worker.index] = figure(report, "peak_kib");
    });
    processes.note("processes_peak_kib", static_cast<double>(std::accumulate(peaks.begin(), peaks.end(), 0UL)));
    return processes.report();
}
