// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/watch.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "base/failure.hpp"
#include "base/text.hpp"

namespace gr::tool {

namespace {

using namespace std::chrono_literals;
constexpr auto kShownPause = 200ms;
constexpr auto kUnarrivedPause = 100ms;
constexpr auto kPatience = 1s;  // with a process that has not loaded the recorder's library
constexpr std::size_t kNamed = 8;
constexpr int kSignalCode = 128;  // an exit code above it tells of a signal

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : kSignalCode + WTERMSIG(status); }

Ended ended_by(Arrival arrival, std::uint64_t ticks, std::optional<int> status) {
    if (!status || *status < 0) return {arrival, ticks, trace::End::Reason::unknown, 0};
    if (WIFEXITED(*status)) return {arrival, ticks, trace::End::Reason::exit, WEXITSTATUS(*status)};
    return {arrival, ticks, trace::End::Reason::signal, WTERMSIG(*status)};
}

}  // namespace

WatchedSignals::WatchedSignals() {
    sigset_t watched;
    ::sigemptyset(&watched);
    for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD}) ::sigaddset(&watched, signal);
    ::pthread_sigmask(SIG_BLOCK, &watched, &before_);
    descriptor_ = ::signalfd(-1, &watched, SFD_NONBLOCK | SFD_CLOEXEC);
    if (descriptor_ < 0) {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("cannot wait for signals: {}", std::generic_category().message(errno)));
    }
}

WatchedSignals::~WatchedSignals() {
    ::close(descriptor_);
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int WatchedSignals::next() const {
    signalfd_siginfo info{};
    return ::read(descriptor_, &info, sizeof info) == sizeof info ? static_cast<int>(info.ssi_signo) : 0;
}

Watch::Watch(const RecordingParts &parts, const Encoder &encoder, const WatchedProgram &program,
             const WatchedSignals &signals)
    : parts_(parts), encoder_(encoder), program_(program.started), signals_(signals) {
    if (program_ == nullptr) interrupts_ = 1;
    if (program.most_time) end_ = Clock::now() + *program.most_time;
}

WatchEnd Watch::run() {
    while (ended_by_ == 0) {
        sleep();
        take_signals();
        if (program_ != nullptr) status_ = program_->status();
        end_gone();
        sample();
        show(Clock::now());
        if (is_over()) break;
    }
    return {exit_code()};
}

int Watch::exit_code() const {
    if (program_ == nullptr && (ended_by_ == 0 || ended_by_ == SIGINT)) return 0;
    return status_ ? exit_code_of(*status_) : kSignalCode + ended_by_;
}

void Watch::sleep() const {
    std::vector<pollfd> queries{{signals_.descriptor(), POLLIN, 0}};
    for (const auto &process : parts_.live.all()) {
        if (process->descriptor() >= 0) queries.push_back({process->descriptor(), POLLIN, 0});
    }
    constexpr int kPause = std::chrono::milliseconds(Sampler::kPause).count();
    ::poll(queries.data(), queries.size(), kPause);
}

void Watch::take_signals() {
    for (int signal = signals_.next(); signal != 0; signal = signals_.next()) {
        if (signal == SIGCHLD || signal == SIGQUIT) continue;  // the latter is the program's
        if (signal != SIGINT || ++interrupts_ > 1) ended_by_ = signal;
    }
}

void Watch::end_gone() {
    for (const auto &process : parts_.live.all()) {
        if (!process->is_gone()) continue;
        const bool is_program = program_ != nullptr && process->process() == program_->process();
        if (is_program) status_ = program_->status();
        const std::optional<int> status = is_program ? status_ : process->wait_status();
        parts_.live.remove(process->arrival());
        parts_.drain.end_process(ended_by(process->arrival(), parts_.clock.now(), status));
    }
}

void Watch::sample() {
    for (const auto &process : parts_.live.all()) {
        if (!process->sampler().is_due(Clock::now())) continue;
        const std::uint64_t ticks = parts_.clock.now();
        if (const auto sample = process->sampler().take()) {
            parts_.messages.put(Sampled{process->arrival(), ticks, *sample});
        }
    }
}

bool Watch::is_process_over() const { return (end_ && Clock::now() >= *end_) || !parts_.recording.has_processes(); }

bool Watch::is_over() {
    if (program_ == nullptr) return is_process_over();
    const Clock::time_point now = Clock::now();
    if (!status_ || parts_.recording.has_processes() || now < next_look_) return false;
    next_look_ = now + kUnarrivedPause;
    // A process that arrives while this function looks has an entry at the end of the function.
    return !awaits(unarrived_processes(parts_.recording)) && !parts_.recording.has_processes();
}

bool Watch::awaits(const std::vector<UnarrivedProcess> &unarrived) {
    if (unarrived.empty()) return false;
    std::vector<std::string> names;
    bool will_arrive = false;
    for (const UnarrivedProcess &each : unarrived) {
        will_arrive = will_arrive || each.has_mapped;
        names.push_back(fmt::format("{} ({})", printable(each.program), each.process));
    }
    const std::string list = list_text(names, kNamed);
    if (!will_arrive) {
        const Clock::time_point now = Clock::now();
        if (!unloaded_since_) unloaded_since_ = now;
        if (now < *unloaded_since_ + kPatience) return true;
        parts_.terminal.complain(fmt::format(
            "record: still running and not recorded, because the recorder's library was not loaded: {}", list));
        return false;
    }
    unloaded_since_.reset();
    if (!std::exchange(has_told_of_unarrived_, true)) {
        parts_.terminal.note(fmt::format(
            "the program has ended; the recording waits for processes that have not called malloc yet: {}; Ctrl-C ends "
            "the recording",
            list));
        interrupts_ = 1;
    }
    return true;
}

void Watch::show(Clock::time_point now) {
    const std::size_t count = parts_.live.all().size();
    if (status_ && count != 0 && !has_told_of_rest_ && interrupts_ == 0) {
        has_told_of_rest_ = true;
        parts_.terminal.note(
            fmt::format("the program has ended, and {} of its processes {} still recorded; Ctrl-C ends the recording",
                        count, count == 1 ? "is" : "are"));
        interrupts_ = 1;
    }
    if (!parts_.terminal.shows_progress() || now < next_shown_) return;
    next_shown_ = now + kShownPause;
    parts_.terminal.show_progress(
        fmt::format("recording {} {}, {:.1f} million events, {}", count, count == 1 ? "process" : "processes",
                    static_cast<double>(encoder_.events()) * 1e-6, bytes_text(encoder_.bytes())));
}

}  // namespace gr::tool
