// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/record/process_trace.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "commands/record/shared_recording.hpp"
#include "reading/trace/chunk.hpp"

namespace gr::tool {

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// What comes at once still fits one chunk.
constexpr std::size_t kFullEvents = trace::kMostEvents - SharedRecording::kRingRecords;
constexpr std::size_t kFullSamples = 1024;
constexpr std::size_t kFullMarks = 1024;
constexpr std::size_t kFullRequests = 4096;
constexpr auto kOldPause = 1s;
constexpr auto kOld = 10s;
constexpr auto kModulesPause = 100ms;  // and twice that, each time that nothing new was found
constexpr auto kPagesPause = 10ms;
constexpr int kPagesPart = 32;  // of the time since the process arrived, between two looks at its pages
constexpr int kCostPart = 200;  // of the time, that this may cost at most
constexpr int kMuchHigherPart = 8;
constexpr int kHigherPart = 64;  // of the highest, by which more is resident than when the memory was looked at

}  // namespace

ProcessTrace::ProcessTrace(const std::string &path_of_file, const trace::Start &start, const Arrived &arrived,
                           const RecordingClock &clock, CodeFiles &files)
    : path(path_of_file),
      process_(arrived.process),
      program_(start.program),
      writer_(path_of_file),
      files_(files),
      made_code_(arrived.process),
      common_{.clock = clock,
              .origin = arrived.ticks,
              .stacks = {},
              .places = {},
              .code = {},
              .addresses = {},
              .ranges = {},
              .ranges_then = {},
              .thread_stacks = {},
              .marks = {},
              .requests = {}},
      modules_pause_(kModulesPause),
      began_(SteadyClock::now()),
      memory_(arrived.process),
      next_old_(began_ + kOldPause) {
    writer_.start(start);
    look_at_modules();
}

void ProcessTrace::take(const Records &records) {
    auto at = threads_.find(records.tenant);
    if (at == threads_.end()) {
        at = threads_.emplace(records.tenant, ThreadEvents(trace::ThreadNumber{thread_count_++}, records.thread)).first;
    }
    const std::size_t bytes_before = at->second.bytes();
    waiting_ += at->second.take(records.records, common_);
    waiting_bytes_ += at->second.bytes() - bytes_before;
    look_for_new_modules();
    if (common_.stacks.new_nodes().size() >= trace::kRowsOfAnyBody) write_stacks();
    if (common_.marks.size() >= kFullMarks || common_.requests.size() >= kFullRequests) write_small_things();
    if (at->second.events().size() >= kFullEvents) write(at->second);
}

void ProcessTrace::take(const ThreadGone &gone) {
    const auto at = threads_.find(gone.tenant);
    if (at == threads_.end()) return;
    at->second.lose(gone.lost);
    at->second.leave(common_);
}

void ProcessTrace::take(const Sampled &sampled) {
    const trace::Sample before = std::exchange(last_sample_, sampled.sample);
    last_sample_.time = time(sampled.ticks);
    last_sample_.keep_times_from_falling(before);
    samples_.push_back(last_sample_);
    if (samples_.size() >= kFullSamples) write_small_things();
    const Moment now = SteadyClock::now();
    if (now >= next_pages_) look_at_pages();
    tell_memory();
    const std::uint64_t resident = sampled.sample.resident_bytes;
    const bool is_higher = resident > highest_look_ + highest_look_ / kHigherPart;
    // Memory can grow by so much only a few times.
    const bool is_much_higher = resident > highest_look_ + highest_look_ / kMuchHigherPart;
    if (now >= next_memory_ || (is_higher && now >= earliest_memory_) || is_much_higher) look_at_memory();
    if (now >= next_old_) write_old(now);
}

void ProcessTrace::look() {
    look_at_modules();
    look_at_made_code();
    look_at_pages();
    tell_memory();
    look_at_memory();
    tell_memory();
}

void ProcessTrace::inherit(const ProcessTrace &other) {
    awaits_parent_ = false;
    // A program that exec started lies at other addresses.
    const bool is_fork = common_.code.begins_as(other.common_.code);
    if (!is_fork) return;
    common_.ranges.inherit(other.common_.ranges);
    for (const auto &[begin, end] : other.common_.addresses.all()) common_.addresses.add(begin, end);
}

void ProcessTrace::look_at_earlier_memory() {
    const EarlierMemory earlier(process_);
    for (const EarlierMemory::Part &part : earlier.parts()) {
        if (part.is_allocators) {
            common_.ranges.take_allocators(part.begin, part.end - part.begin);
        } else {
            common_.ranges.take_earlier(part.begin, part.end - part.begin);
        }
    }
    look_for_stacks();
}

// A new thread may have got the stack of one that ended; it has told its own place in that stack, which stays.
void ProcessTrace::look_for_stacks() {
    for (const DescribedThreads::Stack &stack : described_.forget_ended(process_)) {
        const auto at = common_.thread_stacks.find(stack.pointer);
        if (at != common_.thread_stacks.end() && at->second == stack.place) common_.thread_stacks.erase(at);
    }
    for (const DescribedThreads::Stack &stack : described_.find(process_))
        common_.thread_stacks.emplace(stack.pointer, stack.place);
}

void ProcessTrace::end(const Ended &ended) {
    tell_memory();
    for (auto &[tenant, thread] : threads_) write(thread);
    write_threads();
    look_at_made_code();
    write_small_things();
    writer_.end({.time = time(ended.ticks),
                 .reason = ended.reason,
                 .status = ended.status,
                 .events = writer_.events_written(),
                 .lost = lost_,
                 .stack_nanoseconds = common_.stacks_taken > 0
                                          ? common_.clock.nanoseconds(1) * common_.stack_ticks / common_.stacks_taken
                                          : 0});
}

ProcessTrace::Threads::iterator ProcessTrace::longest_waiting() {
    auto first = threads_.end();
    for (auto at = threads_.begin(); at != threads_.end(); ++at) {
        if (at->second.events().empty()) continue;
        if (first == threads_.end() || at->second.events().front().time < first->second.events().front().time)
            first = at;
    }
    return first;
}

std::uint64_t ProcessTrace::longest_wait() const {
    const std::uint64_t until = now().units;
    std::uint64_t first = until;
    for (const auto &[tenant, thread] : threads_) {
        if (!thread.events().empty()) first = std::min(first, thread.events().front().time.units);
    }
    return until - first;
}

void ProcessTrace::write_what_waits_longest() {
    const auto at = longest_waiting();
    if (at == threads_.end()) return;
    write(at->second);
    free_memory(at->second);
    if (at->second.is_gone) threads_.erase(at);
}

void ProcessTrace::free_what_is_empty() {
    for (auto &[tenant, thread] : threads_) {
        if (thread.events().empty()) free_memory(thread);
    }
}

void ProcessTrace::free_memory(ThreadEvents &thread) {
    waiting_bytes_ -= thread.bytes();
    thread.free_memory();
}

void ProcessTrace::write(ThreadEvents &thread) {
    if (thread.events().empty() && thread.lost() == 0) return;
    write_stacks();
    if (!thread.is_told) write_threads();
    writer_.events(thread.thread().number, thread.events(), static_cast<std::uint32_t>(thread.lost()));
    lost_ += thread.lost();
    waiting_ -= thread.events().size();
    thread.clear();
}

void ProcessTrace::write_stacks() {
    if (common_.stacks.new_nodes().empty()) return;
    writer_.stacks(common_.stacks.new_nodes());
    common_.stacks.clear_new();
    known_nodes_ = 0;
    write_places();
}

void ProcessTrace::write_places() {
    if (common_.places.has_untold()) writer_.places(common_.places.take_untold());
}

void ProcessTrace::write_threads() {
    std::vector<trace::Thread> told;
    for (auto &[tenant, thread] : threads_) {
        if (!std::exchange(thread.is_told, true)) told.push_back(thread.thread());
    }
    if (!told.empty()) writer_.threads(told);
}

void ProcessTrace::write_small_things() {
    if (!samples_.empty()) writer_.samples(samples_);
    samples_.clear();
    if (!common_.marks.empty()) writer_.marks(common_.marks);
    common_.marks.clear();
    write_places();
    if (common_.requests.empty()) return;
    write_stacks();
    writer_.requests(common_.requests);
    common_.requests.clear();
}

// So that not much is missing where the recorder itself is killed.
void ProcessTrace::write_old(Moment moment) {
    next_old_ = moment + kOldPause;
    constexpr std::uint64_t kOldUnits = std::chrono::nanoseconds(kOld).count() / trace::kTimeUnitNanoseconds;
    const std::uint64_t units = now().units;
    const auto is_old = [&](trace::Time time) { return time.units + kOldUnits < units; };
    for (auto &[tenant, thread] : threads_) {
        if (!thread.events().empty() && is_old(thread.events().front().time)) write(thread);
    }
    std::erase_if(threads_, [this](const auto &each) {
        const ThreadEvents &thread = each.second;
        const bool is_over = thread.is_gone && thread.is_told && thread.events().empty();
        if (is_over) waiting_bytes_ -= thread.bytes();
        return is_over;
    });
    const bool small_is_old = (!samples_.empty() && is_old(samples_.front().time)) ||
                              (!common_.marks.empty() && is_old(common_.marks.front().time)) ||
                              (!common_.requests.empty() && is_old(common_.requests.front().time));
    if (small_is_old) write_small_things();
}

bool ProcessTrace::is_known(std::uint64_t address) const {
    return address >= trace::kFirstPlace || common_.code.is_known(address);
}

// Of a process that has gone there are none any more.
void ProcessTrace::look_at_modules() {
    std::vector<trace::Module> mapped = files_.of_process(process_);
    if (mapped.empty()) return;
    std::vector<trace::Module> loaded = common_.code.update(std::move(mapped));
    if (loaded.empty()) return;
    writer_.modules({std::exchange(has_modules_, true) ? now() : trace::Time{}, std::move(loaded)});
    modules_pause_ = kModulesPause;
}

void ProcessTrace::look_for_new_modules() {
    const std::span<const trace::StackNode> nodes = common_.stacks.new_nodes();
    const std::span<const trace::StackNode> unseen = nodes.subspan(std::exchange(known_nodes_, nodes.size()));
    const auto is_told = [&](const trace::StackNode &node) { return is_known(node.address); };
    if (std::ranges::all_of(unseen, is_told)) return;
    if (const Moment now = SteadyClock::now(); now >= next_modules_) {
        modules_pause_ *= 2;
        look_at_modules();
        next_modules_ = now + modules_pause_;
    }
    for (const trace::StackNode &node : unseen) {
        if (!is_told(node)) made_code_.add(node.address);
    }
}

void ProcessTrace::look_at_made_code() {
    if (const std::vector<trace::MadeFunction> told = made_code_.take_names(); !told.empty())
        writer_.made_functions(told);
}

void ProcessTrace::look_at_pages() {
    const Moment begin = SteadyClock::now();
    const trace::Time time = now();
    std::optional<std::vector<trace::PageRun>> runs = resident_pages(process_, common_.addresses);
    if (runs && runs->size() <= trace::kMostRuns) {
        writer_.resident({time, static_cast<std::uint32_t>(::sysconf(_SC_PAGESIZE)), std::move(*runs)});
    }
    const Moment end = SteadyClock::now();
    next_pages_ =
        end + std::max<std::chrono::nanoseconds>({kPagesPause, (end - began_) / kPagesPart, (end - begin) * kCostPart});
}

// The records of requests that came before may still be on their way.
void ProcessTrace::look_at_memory() {
    const Moment begin = SteadyClock::now();
    const trace::Time time = now();
    look_for_stacks();
    if (memory_.look(time)) common_.ranges_then.emplace(time, common_.ranges);
    const Moment end = SteadyClock::now();
    earliest_memory_ = end + std::max<std::chrono::nanoseconds>(kPagesPause, (end - begin) * kCostPart);
    next_memory_ = std::max<Moment>(earliest_memory_, end + (end - began_) / kPagesPart);
}

void ProcessTrace::tell_memory() {
    if (!memory_.has_looked()) return;
    const trace::MemoryLook look = memory_.tell(common_.ranges_then->second, common_);
    common_.ranges_then.reset();
    if (!memory_.new_names().empty()) writer_.memory_names(memory_.new_names());
    write_stacks();
    writer_.memory(look);
    std::uint64_t resident = 0;
    for (const trace::MemoryPart &part : look.parts) resident += part.resident;
    highest_look_ = std::max(highest_look_, resident);
}

}  // namespace gr::tool
