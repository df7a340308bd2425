// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/encoder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <new>
#include <system_error>
#include <utility>

#include "base/failure.hpp"
#include "base/text.hpp"
#include "commands/record/process_files.hpp"

namespace gr::tool {

namespace {

namespace fs = std::filesystem;

// With the messages' 16 MiB, that is 64 MiB.
constexpr std::size_t kMostWaitingBytes = std::size_t{48} << 20;

std::string name_of(const std::string &path) { return fs::path(path).filename().string(); }

// From one state to another, where it is still in the first; who waits for that goes on.
void answer(gr_recorded_process &entry, std::uint32_t from, std::uint32_t to) {
    // Release: pairs with the process's acquire.
    if (std::atomic_ref(entry.state).compare_exchange_strong(from, to, std::memory_order_release))
        wake_sleepers(&entry.state);
}

// What went wrong, empty where nothing did. Out of memory is the recorder's, too, and a trace less is memory again.
template <class Work>
std::string failure_of(Work work) {
    try {
        work();
    } catch (const Failure &failure) {
        return failure.what();
    } catch (const std::bad_alloc &) {
        return "out of memory";
    }
    return {};
}

}  // namespace

Encoder::Encoder(const RecordingParts &parts, const RecordingSettings &settings, const Wanted &wanted)
    : parts_(parts),
      settings_(settings),
      names_(wanted.file),
      main_process_(wanted.main_process),
      only_(wanted.only),
      ran_before_(wanted.ran_before) {}

void Encoder::run() {
    parts_.clock.find_rate();
    while (!is_over_) {
        const Message message = parts_.messages.take();
        std::visit([this](const auto &told) { take(told); }, message);
        count();
    }
    while (!left_.empty()) end_left(left_.begin()->first, "");
}

template <class Work>
void Encoder::with_trace(Arrival arrival, Work work) {
    const auto at = traces_.find(arrival);
    if (at == traces_.end()) return;
    const std::string failure = failure_of([&] { work(*at->second); });
    if (!failure.empty()) fail(arrival, failure);
}

void Encoder::fail(Arrival arrival, const std::string &line) {
    has_failed_ = true;
    std::unique_ptr<ProcessTrace> trace;
    if (const auto at = traces_.find(arrival); at != traces_.end()) {
        trace = std::move(at->second);
        traces_.erase(at);
    }
    const std::string kept =
        trace == nullptr ? "" : fmt::format("; what was written before is kept in {}", in_quotes(trace->path));
    parts_.terminal.complain(fmt::format("record: {}; the program continues, but is no longer recorded{}", line, kept));
    if (trace == nullptr) return;
    end_left(trace->process(), name_of(trace->path));
    note_written(*trace, false);
}

void Encoder::take(const Arrived &arrived) {
    gr_recorded_process &entry = parts_.recording.process(arrived.place);
    bool is_recorded = false;
    if (const std::string failure = failure_of([&] { is_recorded = begin(arrived); }); !failure.empty()) {
        fail(arrived.arrival, failure);
        is_recorded = false;
    }
    if (!is_recorded) answer(entry, GR_PROCESS_ARRIVED, GR_PROCESS_REFUSED);
    // Even who is refused may leave its entry only when it is gone.
    parts_.live.add(std::make_shared<LiveProcess>(arrived.arrival, arrived.process));
    answer(entry, GR_PROCESS_ARRIVED, GR_PROCESS_RECORDED);
}

bool Encoder::begin(const Arrived &arrived) {
    trace::Start start = describe_process(arrived.process);
    if (!is_wanted(start)) return false;
    start.allocator = arrived.allocator;
    start.began_nanoseconds = parts_.clock.real_time(arrived.ticks);
    start.stack_bytes = settings_.stack_bytes > 1 ? settings_.stack_bytes : 0;
    start.stacks = settings_.stack_bytes == 0   ? trace::Stacks::none
                   : settings_.stack_bytes == 1 ? trace::Stacks::all
                                                : trace::Stacks::sampled;
    start.timed_calls = settings_.timed_calls;
    start.clock_nanoseconds = parts_.clock.cost_nanoseconds();
    start.lossy = settings_.lossy;
    start.ran_before = ran_before_ && arrived.process == main_process_;
    auto trace = std::make_unique<ProcessTrace>(name_for(start), start, arrived, parts_.clock, files_);
    if (start.ran_before) trace->look_at_earlier_memory();
    relate(start, *trace, arrived.ticks);
    traces_.emplace(arrived.arrival, std::move(trace));
    return true;
}

// By the name of its file, or the one by which it was called, which may be a link.
bool Encoder::is_wanted(const trace::Start &start) {
    if (only_.empty()) return true;
    const std::string name = name_of(start.program);
    const std::string called = start.arguments.empty() ? "" : name_of(start.arguments.front());
    if (std::ranges::any_of(only_, [&](const std::string &wanted) { return wanted == name || wanted == called; }))
        return true;
    passed_over_.insert(name);
    return false;
}

std::string Encoder::name_for(const trace::Start &start) {
    const auto process = static_cast<std::uint32_t>(start.process);
    return is_named_by_user(process) ? names_.file() : names_.of(start.program, process);
}

// To the program that the process was before, or to the nearest of its ancestors that is recorded.
void Encoder::relate(const trace::Start &start, ProcessTrace &trace, std::uint64_t ticks) {
    if (left_.contains(trace.process())) {
        // What the user named may have another name in the end.
        if (!is_named_by_user(trace.process())) end_left(trace.process(), name_of(trace.path));
        return;
    }
    const auto self = static_cast<std::uint32_t>(::getpid());
    for (auto ancestor = static_cast<std::uint32_t>(start.parent); ancestor > 1 && ancestor != self;
         ancestor = parent_of(ancestor)) {
        const auto at =
            std::ranges::find_if(traces_, [&](const auto &each) { return each.second->process() == ancestor; });
        if (at == traces_.end()) continue;
        trace.parent = ancestor;
        with_trace(at->first, [&](ProcessTrace &parent) {
            parent.add(trace::Relative{parent.time(ticks), start.process, false, name_of(trace.path)});
        });
        return;
    }
}

void Encoder::find_inheritance(ProcessTrace &trace) {
    if (!trace.awaits_parent()) return;
    const auto parent =
        std::ranges::find_if(traces_, [&](const auto &each) { return each.second->process() == trace.parent; });
    if (parent != traces_.end()) trace.inherit(*parent->second);
}

void Encoder::take(const Records &records) {
    with_trace(records.arrival, [&](ProcessTrace &trace) { trace.take(records); });
    keep_within_bounds();
}

void Encoder::take(const ThreadGone &gone) {
    with_trace(gone.arrival, [&](ProcessTrace &trace) { trace.take(gone); });
}

void Encoder::take(const Sampled &sampled) {
    with_trace(sampled.arrival, [&](ProcessTrace &trace) {
        find_inheritance(trace);
        trace.take(sampled);
    });
}

void Encoder::take(const Leaving &leaving) {
    with_trace(leaving.arrival, [&](ProcessTrace &trace) {
        find_inheritance(trace);
        Sampler sampler(trace.process());
        const std::uint64_t ticks = parts_.clock.now();
        if (const auto sample = sampler.take()) trace.take(Sampled{leaving.arrival, ticks, *sample});
        trace.look();
    });
    parts_.drain.forget_leaving(leaving.place);
    answer(parts_.recording.process(leaving.place), GR_PROCESS_LEAVING, GR_PROCESS_LEFT);
}

void Encoder::take(const CodeShown &shown) {
    with_trace(shown.arrival, [](ProcessTrace &trace) { trace.look_at_modules(); });
    parts_.drain.forget_look(shown.place);
    std::uint32_t &done = parts_.recording.process(shown.place).looks_done;
    // Release: pairs with the process's acquire.
    std::atomic_ref(done).store(shown.number, std::memory_order_release);
    wake_sleepers(&done);
}

void Encoder::take(const Ended &ended) {
    // Who had its process id and is gone did not become another program.
    const std::shared_ptr<LiveProcess> live = parts_.live.remove(ended.arrival);
    Ended as_it_was = ended;
    if (ended.reason == trace::End::Reason::exec && (live == nullptr || live->is_gone()))
        as_it_was.reason = trace::End::Reason::unknown;
    const auto at = traces_.find(ended.arrival);
    if (at == traces_.end()) return;
    std::unique_ptr<ProcessTrace> trace = std::move(at->second);
    traces_.erase(at);
    if (as_it_was.reason == trace::End::Reason::exec) {
        leave(std::move(trace), as_it_was);
        return;
    }
    end_left(trace->process(), name_of(trace->path));
    finish(*trace, as_it_was);
}

void Encoder::leave(std::unique_ptr<ProcessTrace> trace, const Ended &ended) {
    if (is_named_by_user(trace->process())) {
        std::error_code error;
        const std::string other = names_.of(trace->program(), trace->process());
        fs::rename(trace->path, other, error);
        if (!error) trace->path = other;
        end_left(trace->process(), name_of(trace->path));
    }
    const std::uint32_t process = trace->process();
    left_[process] = Left{std::move(trace), ended};
}

// An empty name: no other program came.
void Encoder::end_left(std::uint32_t process, const std::string &next_file) {
    const auto at = left_.find(process);
    if (at == left_.end()) return;
    Left left = std::move(at->second);
    left_.erase(at);
    const std::string failure = failure_of([&] {
        if (!next_file.empty())
            left.trace->add(trace::Relative{left.trace->time(left.ended.ticks), process, true, next_file});
    });
    if (!failure.empty()) {
        has_failed_ = true;
        parts_.terminal.complain(fmt::format("record: {}", failure));
        note_written(*left.trace, false);
        return;
    }
    if (next_file.empty() && is_named_by_user(process)) {
        std::error_code error;
        fs::rename(left.trace->path, names_.file(), error);
        if (!error) left.trace->path = names_.file();
    }
    finish(*left.trace, left.ended);
}

void Encoder::finish(ProcessTrace &trace, const Ended &ended) {
    const std::string failure = failure_of([&] { trace.end(ended); });
    if (!failure.empty()) {
        has_failed_ = true;
        parts_.terminal.complain(fmt::format("record: {}", failure));
    }
    note_written(trace, failure.empty());
}

void Encoder::note_written(const ProcessTrace &trace, bool is_whole) {
    written_.push_back({.path = trace.path,
                        .program = trace.program(),
                        .process = trace.process(),
                        .parent = trace.parent,
                        .events = trace.events(),
                        .bytes = trace.bytes(),
                        .lost = trace.lost(),
                        .is_whole = is_whole});
    ended_events_ += trace.events();
    ended_bytes_ += trace.bytes();
}

void Encoder::keep_within_bounds() {
    const auto waiting_bytes = [this] {
        std::size_t bytes = 0;
        for (const auto &[arrival, trace] : traces_) bytes += trace->waiting_bytes();
        return bytes;
    };
    if (waiting_bytes() <= kMostWaitingBytes) return;
    for (const auto &[arrival, trace] : traces_) trace->free_what_is_empty();
    while (waiting_bytes() > kMostWaitingBytes) {
        Arrival longest = Arrival::none;
        std::uint64_t most = 0;
        for (const auto &[arrival, trace] : traces_) {
            const std::uint64_t wait = trace->longest_wait();
            if (trace->waiting() == 0 || (longest != Arrival::none && wait <= most)) continue;
            longest = arrival;
            most = wait;
        }
        with_trace(longest, [](ProcessTrace &trace) { trace.write_what_waits_longest(); });
    }
}

void Encoder::count() {
    std::uint64_t events = ended_events_;
    std::uint64_t bytes = ended_bytes_;
    for (const auto &[arrival, trace] : traces_) {
        events += trace->events() + trace->waiting();
        bytes += trace->bytes();
    }
    events_.store(events, std::memory_order_relaxed);
    bytes_.store(bytes, std::memory_order_relaxed);
}

}  // namespace gr::tool
