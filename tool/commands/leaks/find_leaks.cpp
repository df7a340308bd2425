// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/leaks/find_leaks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <granary/wire/leaks.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "base/failure.hpp"
#include "base/file_text.hpp"
#include "base/output.hpp"
#include "base/temporary_folder.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "commands/leaks/leak_findings.hpp"
#include "reading/allocators/granary_library.hpp"
#include "reading/diagnosis/program_diagnosis.hpp"
#include "reading/diagnosis/watching.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;

constexpr const char *kFolderVariable = "GRANARY_LEAKS";

std::optional<std::uint64_t> whole_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

// The begin of a report's name says which process wrote it, and the end which report it is. Programs can write other files
// there, too.
std::vector<fs::path> reports_in(const fs::path &folder, const std::string &process) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, fs::path> found;
    std::error_code error;
    for (const fs::directory_entry &entry : fs::directory_iterator(folder, error)) {
        const std::string name = entry.path().filename().string();
        const std::size_t point = name.find('.');
        if (!name.starts_with(process) || point == std::string::npos) continue;
        const auto whose = whole_number(std::string_view(name).substr(0, point));
        const auto which = whole_number(std::string_view(name).substr(point + 1));
        if (whose && which) found.emplace(std::pair(*whose, *which), entry.path());
    }
    std::vector<fs::path> reports;
    for (auto &[number, path] : found) reports.push_back(std::move(path));
    return reports;
}

std::vector<LeakReport> read_all(const std::vector<fs::path> &files) {
    std::vector<LeakReport> reports;
    reports.reserve(files.size());
    for (const fs::path &file : files) reports.push_back(read_leak_report(file));
    return reports;
}

// Returns whether anything leaked.
bool tell(const LeaksRequest &request, std::vector<LeakReport> reports) {
    Suppressions suppressions;
    for (const std::string &file : request.suppressions) suppressions.read(file);
    std::vector<ProcessFindings> processes;
    processes.reserve(reports.size());
    for (LeakReport &report : reports) processes.push_back(find_places(std::move(report), suppressions));
    const std::string text = request.json ? leaks_json(processes) : leaks_text(processes, request.whole_names);
    if (request.output.empty()) {
        std::fwrite(text.data(), 1, text.size(), stderr);
    } else if (std::ofstream file(request.output); !(file << text).flush()) {
        throw Failure(ExitCode::tool_failure, fmt::format("cannot write {}", in_quotes(request.output)));
    }
    return std::ranges::any_of(processes, [](const ProcessFindings &found) { return !found.leaks.empty(); });
}

// A program inherits the limits of the command.
void require_addresses() {
    struct Limit {
        decltype(RLIMIT_AS) resource;
        const char *name;
    };
    constexpr rlim_t kScarce = rlim_t{GR_LEAKS_SCARCE_GIB} << 30;
    for (const Limit &each : {Limit{RLIMIT_AS, "address space (ulimit -v)"}, Limit{RLIMIT_DATA, "data (ulimit -d)"}}) {
        struct rlimit limit {};
        if (::getrlimit(each.resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > kScarce)
            continue;
        throw Failure(ExitCode::usage, fmt::format("nothing can be found under a limit on {} of {} GiB or less; "
                                                   "raise the limit",
                                                   each.name, static_cast<int>(GR_LEAKS_SCARCE_GIB)));
    }
}

// Libc keeps stacks of threads that ended, with all that their calls left there: none, where leaks are looked for.
void drop_dead_stacks() {
    constexpr const char *kTunables = "GLIBC_TUNABLES";
    const std::string kept = variable(kTunables).value_or("");
    set_variable(kTunables, (kept.empty() ? "" : kept + ":") + "glibc.pthread.stack_cache_size=0");
}

// Where the program cannot be started, the reason goes through the pipe, which a program that starts closes.
[[noreturn]] void become(const LeaksRequest &request, int pipe) {
    std::vector<char *> arguments;
    for (const std::string &word : request.command) arguments.push_back(const_cast<char *>(word.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments.front(), arguments.data());
    const int error = errno;
    ::_exit(::write(pipe, &error, sizeof error) == sizeof error ? 0 : 1);
}

void require_start(const LeaksRequest &request, int pipe) {
    int error = 0;
    ssize_t size = 0;
    do size = ::read(pipe, &error, sizeof error);
    while (size < 0 && errno == EINTR);
    ::close(pipe);
    if (size == sizeof error)
        throw Failure(
            error == ENOENT ? ExitCode::not_found : ExitCode::cannot_invoke,
            fmt::format("{}: {}", in_quotes(request.command.front()), std::generic_category().message(error)));
}

// What the terminal sends both of them is the program's affair.
int run_and_wait(const LeaksRequest &request) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        throw Failure(ExitCode::tool_failure, std::generic_category().message(errno));
    const pid_t child = ::fork();
    if (child == 0) become(request, pipe[1]);
    if (child < 0) throw Failure(ExitCode::tool_failure, std::generic_category().message(errno));
    ::close(pipe[1]);
    ::signal(SIGINT, SIG_IGN);
    ::signal(SIGQUIT, SIG_IGN);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    require_start(request, pipe[0]);
    constexpr int kBySignal = 128;
    return WIFEXITED(status) ? WEXITSTATUS(status) : kBySignal + WTERMSIG(status);
}

// A program that cannot be watched is not run: a user would take silence for a program without leaks.
void require_watching(const std::string &program) {
    const Watching watching = watching_of(diagnose_program(program, Depth::program), Served::by_another);
    if (!watching.is_possible)
        throw Failure(ExitCode::usage, fmt::format("{} is not watched: {}", in_quotes(program), watching.text));
    if (!watching.text.empty())
        complain(fmt::format("leaks: {} is not watched in whole: {}", in_quotes(program), watching.text));
}

// A program that was killed says so by its status.
int without_report(const LeaksRequest &request, int status) {
    constexpr int kLeastBySignal = 129;
    const bool was_killed = status >= kLeastBySignal;
    complain(fmt::format("leaks: {} is not watched: it {} before it looked for leaks",
                         in_quotes(request.command.front()), was_killed ? "was killed" : "ended by _exit or exec"));
    return was_killed ? status : static_cast<int>(ExitCode::usage);
}

int find_in_program(const LeaksRequest &request) {
    for (const std::string &file : request.suppressions) Suppressions().read(file);  // before anything runs
    require_watching(request.command.front());
    require_addresses();
    const std::string library = collecting_library(find_library(request.library));
    const TemporaryFolder folder("leaks");
    set_variable(kFolderVariable, folder.path());
    drop_dead_stacks();
    preload(library);
    const int status = run_and_wait(request);
    std::vector<LeakReport> reports = read_all(reports_in(folder.path(), ""));
    if (reports.empty()) return without_report(request, status);
    const bool is_examined = std::ranges::all_of(reports, [](const auto &report) { return report.failure.empty(); });
    std::erase_if(reports, [](const LeakReport &report) { return report.failure.empty() && report.leaks.empty(); });
    const bool has_leaks = (!reports.empty() || request.json) && tell(request, std::move(reports));
    if (has_leaks) return request.exit_code;
    return is_examined ? status : static_cast<int>(ExitCode::usage);
}

std::string folder_of(int process) {
    std::istringstream variables(file_text(fmt::format("/proc/{}/environ", process)));
    const std::string wanted = std::string(kFolderVariable) + "=";
    for (std::string one; std::getline(variables, one, '\0');) {
        if (one.starts_with(wanted)) return one.substr(wanted.size());
    }
    return {};
}

// Who does not handle the signal would die of it.
bool handles_signal(int process) {
    std::ifstream file(fmt::format("/proc/{}/status", process));
    for (std::string line; std::getline(file, line);) {
        constexpr std::string_view kCaught = "SigCgt:\t";
        if (!line.starts_with(kCaught)) continue;
        return (std::stoull(line.substr(kCaught.size()), nullptr, 16) >> (GR_LEAKS_SIGNAL - 1) & 1) != 0;
    }
    return false;
}

int find_in_process(const LeaksRequest &request, int process) {
    const std::string folder = folder_of(process);
    if (!fs::exists(fmt::format("/proc/{}", process)))
        throw Failure(ExitCode::not_found, fmt::format("no process {}", process));
    if (folder.empty() || !fs::is_directory(folder) || !handles_signal(process)) {
        throw Failure(
            ExitCode::not_runnable,
            fmt::format("process {} was not started by 'granary leaks', or 'granary leaks' has ended", process));
    }
    const std::string name = fmt::format("{}.", process);
    const std::size_t before = reports_in(folder, name).size();
    if (::kill(process, GR_LEAKS_SIGNAL) != 0)
        throw Failure(ExitCode::tool_failure, std::generic_category().message(errno));
    constexpr auto kLook = std::chrono::milliseconds(10);
    constexpr unsigned kLooks = 3000;
    for (unsigned i = 0; i < kLooks; ++i) {
        if (const std::vector<fs::path> reports = reports_in(folder, name); reports.size() > before) {
            const bool leaked = tell(request, read_all({reports.back()}));
            fs::remove(reports.back());
            return leaked ? request.exit_code : 0;
        }
        std::this_thread::sleep_for(kLook);
    }
    throw Failure(ExitCode::tool_failure,
                  fmt::format("process {} does not answer; it is stopped, or it hangs inside malloc", process));
}

}  // namespace

int find_leaks(const LeaksRequest &request) {
    return request.process ? find_in_process(request, *request.process) : find_in_program(request);
}

}  // namespace gr::tool
