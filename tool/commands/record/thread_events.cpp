// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: thread_events.hpp.
// Invariant: as there. The records are another process's: whatever they say, nothing outside them is read.
// Must not know: how events are written.
#include "commands/record/thread_events.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "reading/trace/chunk.hpp"

namespace gr::tool {

namespace {

using trace::Event;
using trace::Op;

std::uint8_t kind_of(const gr_record &record) {
    return static_cast<std::uint8_t>(record.kind_and_address >> GR_RECORD_KIND_SHIFT);
}
constexpr std::uint64_t below(std::uint64_t number, unsigned shift) {
    return number & ((std::uint64_t{1} << shift) - 1);
}

// The address that stands for a word of a stack that is none.
std::uint64_t place_of(std::uint64_t word, trace::StackNumber caller, ProcessEvents &process) {
    if (word >= GR_RECORDED_PLACE) return process.places.of_word(word);
    return process.places.left_out(caller, word & ~GR_RECORDED_CALLS_LEFT_OUT);
}

// Of the call that a word tells.
inline trace::StackNumber node_of(std::uint64_t word, trace::StackNumber caller, ProcessEvents &process) {
    static_assert(trace::kFirstPlace == GR_RECORDED_CALLS_LEFT_OUT, "words below are addresses, on both sides");
    const bool is_address = word < trace::kFirstPlace;
    return process.stacks.child(caller, is_address ? process.code.in_trace(word) : place_of(word, caller, process));
}

std::size_t records_of(std::size_t bytes) { return (bytes + sizeof(gr_record) - 1) / sizeof(gr_record); }

}  // namespace

std::size_t ThreadEvents::take(std::span<const gr_record> records, ProcessEvents &process) {
    const std::size_t before = events_.size();
    now_ = process.clock.time(process.clock.now(), process.origin);
    for (std::size_t i = 0; i < records.size(); ++i) {
        const gr_record &record = records[i];
        const std::uint8_t kind = kind_of(record);
        if (trace::is_known(kind)) {
            add(record, process);
        } else if (trace::is_request(kind)) {
            add_request(record, process);
        } else if (kind == GR_RECORD_TIMED && last_ < events_.size()) {
            const double nanoseconds = process.clock.nanoseconds(record.size);
            constexpr double kMost = std::numeric_limits<std::uint32_t>::max();
            events_[last_].nanoseconds = static_cast<std::uint32_t>(std::clamp(nanoseconds, 1.0, kMost));
        } else if (kind == GR_RECORD_STACK) {
            i += take_stack(records.subspan(i), process);
        } else if (kind == GR_RECORD_NAME || kind == GR_RECORD_MARK) {
            i += take_text(records.subspan(i), process);
        } else if (kind == GR_RECORD_PLACE) {
            i += take_place(records.subspan(i), process);
        } else if (kind == GR_RECORD_LOST) {
            lose(record.size);
        } else if (kind == GR_RECORD_THREAD_STACK) {
            take_thread_stack(record, process);
        } else if (kind == GR_RECORD_OWN_MEMORY) {
            process.ranges.take_recorders(below(record.kind_and_address, GR_RECORD_KIND_SHIFT), record.size);
        }
    }
    return events_.size() - before;
}

std::size_t ThreadEvents::take_stack(std::span<const gr_record> rest, ProcessEvents &process) {
    constexpr std::size_t kMost = GR_RECORDING_MOST_CALLS;
    const std::uint64_t further = rest[0].size >> GR_RECORD_ALIGNMENT_SHIFT;
    const std::size_t count = std::min<std::uint64_t>(below(rest[0].size, GR_RECORD_ALIGNMENT_SHIFT), kMost);
    const std::size_t whole = records_of(count * sizeof(std::uint64_t));
    if (whole > rest.size() - 1) return rest.size() - 1;
    const bool is_apart = further == GR_RECORD_STACK_APART;
    if (!is_apart) cut_last_stack(std::min<std::uint64_t>(further, kMost - count), process);
    trace::StackNumber node =
        is_apart || last_calls_ == 0 ? trace::StackNumber::none : last_stack_[last_calls_ - 1].node;
    const auto *const words = reinterpret_cast<const std::byte *>(&rest[0] + 1);
    for (std::size_t i = count; i-- != 0;) {
        std::uint64_t word = 0;
        std::memcpy(&word, words + i * sizeof word, sizeof word);
        node = node_of(word, node, process);
        if (!is_apart) last_stack_[last_calls_++] = {word, node};
    }
    stack_ = node;
    process.stack_ticks += static_cast<double>(below(rest[0].kind_and_address, GR_RECORD_KIND_SHIFT));
    process.stacks_taken += 1;
    return whole;
}

// Only that many outermost calls of it stay. Their nodes are those of before, unless code was unloaded since.
void ThreadEvents::cut_last_stack(std::size_t calls, ProcessEvents &process) {
    if (last_stack_.empty()) last_stack_.resize(GR_RECORDING_MOST_CALLS);
    last_calls_ = std::min(calls, last_calls_);
    if (last_unloads_ == process.code.unloads()) [[likely]]
        return;
    last_unloads_ = process.code.unloads();
    trace::StackNumber caller = trace::StackNumber::none;
    for (Call &call : std::span(last_stack_).first(last_calls_))
        caller = call.node = node_of(call.word, caller, process);
}

// The text behind a record, and how many records it takes.
std::pair<std::string, std::size_t> ThreadEvents::text_behind(std::span<const gr_record> rest) {
    const std::size_t size = std::min<std::uint64_t>(rest[0].size, GR_RECORDING_MOST_TEXT);
    const std::size_t whole = std::min(records_of(size), rest.size() - 1);
    return {std::string(reinterpret_cast<const char *>(&rest[0] + 1), std::min(size, whole * sizeof(gr_record))),
            whole};
}

std::size_t ThreadEvents::take_place(std::span<const gr_record> rest, ProcessEvents &process) {
    const auto [text, whole] = text_behind(rest);
    const std::size_t end = std::min(text.find('\0'), text.size());
    trace::Place place;
    place.function = text.substr(0, end);
    place.file = text.substr(std::min(end + 1, text.size()));
    constexpr std::uint64_t kMostLine = std::numeric_limits<int>::max();
    place.line = static_cast<int>(std::min(below(rest[0].kind_and_address, GR_RECORD_KIND_SHIFT), kMostLine));
    process.places.describe(rest[0].time, std::move(place));
    return whole;
}

std::size_t ThreadEvents::take_text(std::span<const gr_record> rest, ProcessEvents &process) {
    auto [text, whole] = text_behind(rest);
    const trace::Time time = time_of(rest[0], process);
    if (kind_of(rest[0]) == GR_RECORD_MARK) {
        process.marks.push_back({time, thread_.number, std::move(text)});
    } else {
        if (thread_.name.empty()) thread_.first = time;
        thread_.name = std::move(text);
        is_told = false;
    }
    return whole;
}

trace::Time ThreadEvents::time_of(const gr_record &record, const ProcessEvents &process) const {
    return std::min(process.clock.time(record.time, process.origin), now_);
}

void ThreadEvents::add(const gr_record &record, ProcessEvents &process) {
    Event &event = events_.emplace_back();
    event.time = time_of(record, process);
    event.op = Op{kind_of(record)};
    event.address = below(record.kind_and_address, GR_RECORD_KIND_SHIFT);
    event.thread = thread_.number;
    if (event.op == Op::brk) {
        event.size = record.size;
    } else if (!trace::frees(event.op)) {
        event.size = below(record.size, GR_RECORD_ALIGNMENT_SHIFT);
        event.log2_alignment = static_cast<std::uint8_t>(record.size >> GR_RECORD_ALIGNMENT_SHIFT);
    }
    if (trace::obtains(event.op)) {
        event.log2_alignment = std::min(event.log2_alignment, trace::kMostAlignment);
        event.stack = std::exchange(stack_, trace::StackNumber::none);
        if (event.address != 0) process.addresses.add(event.address, event.address + event.size);
    }
    if (trace::is_of_pages(event.op)) take_request(event, &process);
    event.time = std::max(event.time, written_);
    put_last_in_order();
}

void ThreadEvents::add_request(const gr_record &record, ProcessEvents &process) {
    trace::Request request;
    request.time = time_of(record, process);
    request.thread = thread_.number;
    request.kind = trace::RequestKind{kind_of(record)};
    request.address = below(record.kind_and_address, GR_RECORD_KIND_SHIFT);
    request.size = record.size;
    request.stack = std::exchange(stack_, trace::StackNumber::none);
    if (request.kind != trace::RequestKind::brk) {
        request.size = below(record.size, GR_RECORD_ALIGNMENT_SHIFT);
        request.detail = static_cast<std::uint8_t>(record.size >> GR_RECORD_ALIGNMENT_SHIFT);
    }
    process.requests.push_back(request);
    take_request(request, &process);
}

void ThreadEvents::take_thread_stack(const gr_record &record, ProcessEvents &process) {
    if (process.thread_stacks.size() >= kMostStacks) return;
    pointer_ = record.size;
    process.thread_stacks[pointer_] = below(record.kind_and_address, GR_RECORD_KIND_SHIFT);
}

void ThreadEvents::leave(ProcessEvents &process) {
    is_gone = true;
    if (pointer_ != 0) process.thread_stacks.erase(pointer_);
    pointer_ = 0;
}

void ThreadEvents::put_last_in_order() {
    const trace::Time time = events_.back().time;
    auto at = events_.end() - 1;
    while (at != events_.begin() && (at - 1)->time > time) --at;
    last_ = static_cast<std::size_t>(at - events_.begin());
    if (at != events_.end() - 1) [[unlikely]]
        std::rotate(at, events_.end() - 1, events_.end());
}

void ThreadEvents::clear() {
    if (!events_.empty()) written_ = events_.back().time;
    events_.clear();
    last_ = 0;
    lost_ = 0;
}

}  // namespace gr::tool
