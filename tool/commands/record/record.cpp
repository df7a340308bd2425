// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: record.hpp: what stands before the recording and behind it.
// Invariant: as there. Nothing is started that cannot be recorded, nor where no trace can be written.
// Must not know: how the command line was parsed.
#include "commands/record/record.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <system_error>
#include <thread>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "base/variables.hpp"
#include "commands/record/attach/running_process.hpp"
#include "commands/record/encoder.hpp"
#include "commands/record/recorded_tree.hpp"
#include "commands/record/started_program.hpp"
#include "commands/record/watch.hpp"
#include "reading/allocators/chosen_allocator.hpp"
#include "reading/allocators/granary_library.hpp"
#include "reading/allocators/loader_path.hpp"
#include "reading/allocators/malloc_symbols.hpp"
#include "reading/diagnosis/program_diagnosis.hpp"
#include "reading/diagnosis/watching.hpp"
#include "reading/process/elf_file.hpp"
#include "reading/symbols/embedding.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;

// A file that cannot be read is the kernel's matter.
bool has_granary_in_it(const std::string &path) {
    try {
        return contains_granary(ElfFile(path));
    } catch (const std::system_error &) {
        return false;
    }
}

// What prevents a preload also prevents a recording. The kernel decides whether the program can be executed.
void check_program(const RecordRequest &request, Terminal &terminal) {
    const std::string &program = request.command.front();
    const Diagnosis diagnosis = diagnose_program(program, Depth::program);
    if (has_granary_in_it(diagnosis.path)) {
        throw Failure(ExitCode::not_runnable,
                      fmt::format("{} cannot be recorded: Granary is linked into it, and the malloc of a program comes "
                                  "before a preloaded one; link it with libgranary.so instead",
                                  in_quotes(program)));
    }
    const Served served = request.allocator == kSystemAllocator ? Served::as_ever : Served::by_another;
    const Watching watching = watching_of(diagnosis, served);
    if (!watching.is_possible) {
        throw Failure(ExitCode::not_runnable,
                      fmt::format("{} cannot be recorded: {}", in_quotes(program), watching.text));
    }
    if (!watching.text.empty()) terminal.note(fmt::format("record: {}: {}", program, watching.text));
}

// A file that can be written. A file that did not exist is created, and removed again if no trace is written to it. The file
// stays open, so that the reader of a named pipe reads on until the trace is whole.
class TraceFile {
  public:
    explicit TraceFile(const std::string &path) : path_(path) {
        if (path.empty()) {
            if (::access(".", W_OK) != 0) fail("this folder");
            return;
        }
        std::error_code error;
        is_new_ = !fs::exists(path, error);
        constexpr mode_t kMode = 0600;
        file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, kMode);
        if (file_ < 0 && errno == ENXIO)
            throw Failure(ExitCode::tool_failure,
                          fmt::format("cannot write {}: no process reads this named pipe", in_quotes(path)));
        if (file_ < 0) fail(in_quotes(path));
    }
    ~TraceFile() {
        if (file_ >= 0) ::close(file_);
        if (is_new_ && !path_.empty()) ::unlink(path_.c_str());
    }
    TraceFile(const TraceFile &) = delete;
    TraceFile &operator=(const TraceFile &) = delete;
    void keep() { is_new_ = false; }

  private:
    [[noreturn]] static void fail(const std::string &what) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("cannot write {}: {}", what, std::generic_category().message(errno)));
    }

    std::string path_;
    int file_ = -1;
    bool is_new_ = false;
};

StartedProgram::Variables variables_for(const RecordRequest &request, const SharedRecording &recording) {
    const ChosenAllocator allocator = choose_allocator(request.allocator);
    StartedProgram::Variables variables = allocator.environment;
    std::string preload = preload_path(recorder_library());
    if (!allocator.library.empty()) preload += ':' + preload_path(allocator.library);
    if (const std::string kept = variable("LD_PRELOAD").value_or(""); !kept.empty()) preload += ':' + kept;
    variables.emplace_back("LD_PRELOAD", preload);
    variables.emplace_back(GR_RECORDING_PATH, recording.path());
    return variables;
}

// Each process needs a descriptor for its trace and one that tells of its end.
void raise_file_limit() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &limit);
}

double cpu_seconds() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    const auto seconds_of = [](const timeval &time) {
        return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
    };
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

void tell(const std::vector<WrittenTrace> &written, std::uint32_t process, double seconds, Terminal &terminal) {
    const WrittenTrace *main = nullptr;
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0;
    std::size_t left_out = 0;
    for (const WrittenTrace &trace : written) {
        if (main == nullptr || trace.process == process) main = &trace;
        events += trace.events;
        bytes += trace.bytes;
        lost += trace.lost;
        left_out += trace.is_left_out ? 1 : 0;
    }
    const std::size_t others = written.size() - left_out - 1;
    const std::string beside =
        others == 0 ? "" : fmt::format(" and {} more {} beside it", others, others == 1 ? "trace" : "traces");
    const std::string gaps = lost == 0 ? "" : fmt::format(", {} lost", lost);
    const std::string each =
        events == 0 ? ""
                    : fmt::format(", {:.2f} bytes per event", static_cast<double>(bytes) / static_cast<double>(events));
    terminal.note(fmt::format("recorded {}{}: {} events{}{}; {:.2f} s, the recorder used {:.2f} s of CPU time",
                              main->path, beside, events, gaps, each, seconds, cpu_seconds()));
    terminal.list(tree_text(written));
    if (left_out == 0) return;
    terminal.list(
        fmt::format("  Of more than {} traces, those of fewer than {} are left out; --keep-small keeps them.\n",
                    kManyTraces, count_words(kSmallTrace, "event", "events")));
}

std::string why_nothing(const RecordRequest &request, const Encoder &encoder) {
    if (encoder.passed_over().empty()) {
        return fmt::format(
            "nothing was recorded: {} ended before it loaded the recorder's library, or its address space has no room "
            "for the library (ulimit -v)",
            request.process != 0 ? fmt::format("process {}", request.process) : in_quotes(request.command.front()));
    }
    constexpr std::size_t kNamed = 8;
    const std::set<std::string> &others = encoder.passed_over();
    return fmt::format("nothing was recorded: no program ran that --only names; these did: {}",
                       printable(list_text({others.begin(), others.end()}, kNamed)));
}

// What names could not be found, or not be written, is told by the commands that read the trace: the recording is whole.
void embed_symbols(std::vector<WrittenTrace> &written, Terminal &terminal) {
    for (WrittenTrace &one : written) {
        if (one.is_left_out) continue;
        try {
            const trace::Trace trace(one.path);
            embed_names(trace, {}, one.path);
            one.bytes = fs::file_size(one.path);
        } catch (const std::exception &error) {
            terminal.note(fmt::format("record: {} has no names in it: {}", one.path, error.what()));
        }
    }
}

// What empties the rings and what writes the traces: from before the program runs until all of it is written.
class RecordingThreads {
  public:
    RecordingThreads(Drain &drain, Encoder &encoder, MessageQueue &messages) try
        : encoding_([&](const std::stop_token &end) {
              const std::stop_callback quit(end, [&] { messages.end(); });
              encoder.run();
          }),
          draining_([&](const std::stop_token &end) {
              const std::stop_callback stop(end, [&] { drain.stop(); });
              drain.run();
          }) {
    } catch (const std::system_error &error) {
        throw Failure(
            ExitCode::tool_failure,
            fmt::format("cannot start the recorder's threads (see ulimit -v and -u): {}", error.code().message()));
    }

  private:
    std::jthread encoding_;
    std::jthread draining_;  // ends first, and tells the other
};

// All that a recording consists of, beside the program.
class RecordingRun {
  public:
    RecordingRun(const RecordRequest &request, const SharedRecording &recording, RecordingClock &clock,
                 std::uint32_t process, Terminal &terminal)
        : request_(request),
          process_(process),
          terminal_(terminal),
          drain_(std::make_unique<Drain>(recording, clock, messages_)),
          parts_{recording, clock, messages_, *drain_, live_, terminal},
          encoder_(parts_, request.settings, {request.file, process, request.only, request.process != 0}) {
        raise_file_limit();
    }

    // Begins once everything that takes down is ready. `end` comes before it ends.
    template <class Begin, class End>
    int run(const WatchedProgram &program, const WatchedSignals &signals, Begin begin, End end) {
        const RecordingThreads threads(*drain_, encoder_, messages_);
        if (parts_.recording.rings() < SharedRecording::kMostRings) {
            terminal_.note(
                fmt::format("record: address space is limited (ulimit -v): at most {} threads at a time are "
                            "recorded, the events of others are counted as lost",
                            parts_.recording.rings()));
        }
        begin();
        const WatchEnd ended = Watch(parts_, encoder_, program, signals).run();
        end(live_.all());
        return ended.exit_code;
    }

    // What the processes could not write down themselves.
    void tell_missed() const {
        const double processes = read(parts_.recording.control().missed);
        const double calls = read(parts_.recording.control().lost);
        if (processes != 0)
            terminal_.complain(fmt::format(
                "record: {} not recorded: a process that has process ids of its own (unshare --pid, a container) "
                "cannot be, nor can more than {} at a time",
                count_words(processes, "process was", "processes were"), SharedRecording::kProcesses));
        tell_unloaded();
        if (calls != 0)
            terminal_.complain(fmt::format("record: {} lost: more than {} threads ran at a time",
                                           count_words(calls, "call was", "calls were"), parts_.recording.rings()));
    }

    // Programs that the recorder's library told of, before they started. Any process can write these words.
    void tell_unloaded() const {
        constexpr std::size_t kNamed = 4;
        gr_recording &control = parts_.recording.control();
        const std::vector<std::string> names = unloaded_names(control);
        const bool is_all = request_.only.empty();
        const double programs = is_all ? read(control.unloaded) : static_cast<double>(names.size());
        if (programs == 0) return;
        terminal_.complain(
            fmt::format("record: {} not recorded{}{}: such a program cannot load the recorder's library, because it is "
                        "static, has the rights of another user, or is for another libc or architecture",
                        count_words(programs, "started program was", "started programs were"),
                        names.empty() ? "" : ", ", list_text(names, kNamed)));
    }
    [[nodiscard]] std::vector<std::string> unloaded_names(gr_recording &control) const {
        const std::uint64_t written = std::atomic_ref(control.unloaded_names).load(std::memory_order_relaxed);
        std::vector<std::string> names;
        for (std::uint64_t i = 0; i < std::min<std::uint64_t>(written, GR_RECORDING_UNLOADED_NAMES); ++i) {
            const char *const text = &control.unloaded_name[i][0];
            const std::string name(text, ::strnlen(text, GR_RECORDING_UNLOADED_NAME_BYTES));
            const bool is_told = request_.only.empty() || std::ranges::find(request_.only, name) != request_.only.end();
            if (!name.empty() && is_told) names.push_back(printable(name));
        }
        return names;
    }

    // After run(): the exit code, where it is the recording's.
    [[nodiscard]] std::optional<int> finish(TraceFile &file) {
        std::vector<WrittenTrace> written = encoder_.written();
        tell_missed();
        if (std::ranges::any_of(written, [&](const WrittenTrace &trace) { return trace.path == request_.file; }))
            file.keep();
        if (!written.empty()) {
            if (!request_.keeps_small) leave_out_small(written, process_);
            if (request_.embeds_symbols) embed_symbols(written, terminal_);
            const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin_;
            tell(written, process_, seconds.count(), terminal_);
        }
        if (encoder_.has_failed()) return static_cast<int>(ExitCode::tool_failure);
        if (written.empty()) throw Failure(ExitCode::not_runnable, why_nothing(request_, encoder_));
        return std::nullopt;
    }

  private:
    static double read(std::uint64_t &word) {
        return static_cast<double>(std::atomic_ref(word).load(std::memory_order_relaxed));
    }

    const RecordRequest &request_;
    std::uint32_t process_;
    Terminal &terminal_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    MessageQueue messages_;
    LiveProcesses live_;
    std::unique_ptr<Drain> drain_;
    RecordingParts parts_;
    Encoder encoder_;
};

// What cannot be left keeps the library, which then only passes calls on.
void leave_processes(const LiveProcesses::List &processes, const std::string &library, Terminal &terminal) {
    for (const auto &process : processes) {
        if (process->is_gone()) continue;
        try {
            detach_process(process->process(), library);
        } catch (const Failure &failure) {
            if (!process->is_gone() && has_memory(process->process()))
                terminal.complain(
                    fmt::format("record: process {} continues with the recorder's library, which passes "
                                "its calls on: {}",
                                process->process(), failure.what()));
        }
    }
}

}  // namespace

int record_program(const RecordRequest &request) {
    Terminal terminal(request.quiet);
    check_program(request, terminal);
    std::signal(SIGXFSZ, SIG_IGN);  // then a limit is an error of the one write
    RecordingClock clock;
    const SharedRecording recording(request.settings, clock.kind());
    const StartedProgram::Variables variables = variables_for(request, recording);
    TraceFile file(request.file);
    const WatchedSignals signals;
    StartedProgram program(request.command, variables, signals.before());
    RecordingRun run(request, recording, clock, program.process(), terminal);
    const int exit_code = run.run(
        {.started = &program, .most_time = {}}, signals, [&] { program.go(); }, [](const auto &) {});
    return run.finish(file).value_or(exit_code);
}

int record_process(const RecordRequest &request) {
    Terminal terminal(request.quiet);
    const std::string library = recorder_library();
    std::signal(SIGXFSZ, SIG_IGN);
    RecordingClock clock;
    TraceFile file(request.file);
    const WatchedSignals signals;  // nothing ends this command while the process does not stand as it stood
    RunningProcess process(request.process, library, SharedRecording::kName);
    const SharedRecording recording(request.settings, clock.kind(), process.shared_memory(), request.process);
    RecordingRun run(request, recording, clock, request.process, terminal);
    const auto begin = [&] {
        process.attach();
        terminal.note(
            fmt::format("recording process {}; Ctrl-C ends the recording, and the process continues", request.process));
    };
    const auto end = [&](const LiveProcesses::List &processes) { leave_processes(processes, library, terminal); };
    std::optional<std::chrono::seconds> most_time;
    if (request.seconds) most_time = std::chrono::seconds(*request.seconds);
    const int exit_code = run.run({.started = nullptr, .most_time = most_time}, signals, begin, end);
    return run.finish(file).value_or(exit_code);
}

}  // namespace gr::tool
