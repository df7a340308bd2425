// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one thread's events, from its records, as far as they are not written yet.
// Invariant: in the order of time: a record of earlier than those before it (the call took its time first) comes before
//    them, or, where these are written, counts as of then.
// Must not know: how they are written, and when.
#pragma once

#include <granary/wire/recording.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands/record/address_ranges.hpp"
#include "commands/record/code_addresses.hpp"
#include "commands/record/own_ranges.hpp"
#include "commands/record/place_table.hpp"
#include "commands/record/recording_clock.hpp"
#include "commands/record/stack_tree.hpp"
#include "reading/trace/contents.hpp"
#include "reading/trace/event.hpp"

namespace gr::tool {

// What the threads of a process have in common.
struct ProcessEvents {
    const RecordingClock &clock;
    std::uint64_t origin;  // Time 0
    StackTree stacks;
    PlaceTable places;
    CodeAddresses code;
    AddressRanges addresses;
    OwnRanges ranges;
    // As of a moment of which not all records have come; nothing: all of them have.
    std::optional<std::pair<trace::Time, OwnRanges>> ranges_then;
    std::map<std::uint64_t, std::uint64_t> thread_stacks;  // by thread's pointer: an address in its stack
    std::vector<trace::Mark> marks;                        // not written yet
    std::vector<trace::Request> requests;                  // not written yet
    double stack_ticks = 0;                                // that the process spent on taking stacks
    double stacks_taken = 0;
};

// A request, or an event that is one, in the ranges.
template <class One>
void take_request(const One &one, ProcessEvents *process) {
    process->ranges.take(one);
    if (process->ranges_then && one.time <= process->ranges_then->first) process->ranges_then->second.take(one);
}

class ThreadEvents {
  public:
    ThreadEvents(trace::ThreadNumber number, std::uint32_t id) { thread_.number = number, thread_.id = id; }

    // Groups are whole. Returns how many events came.
    std::size_t take(std::span<const gr_record> records, ProcessEvents &process);
    // The thread is gone, and its stack may be another's.
    void leave(ProcessEvents &process);
    void lose(std::uint64_t count) { lost_ += std::min(count, kMostLost - lost_); }

    // What it is called, and whether that is told in the trace.
    [[nodiscard]] const trace::Thread &thread() const { return thread_; }
    bool is_told = false;
    bool is_gone = false;

    [[nodiscard]] const std::vector<trace::Event> &events() const { return events_; }
    [[nodiscard]] std::uint64_t lost() const { return lost_; }
    // Of memory, whether there are events in it or not.
    [[nodiscard]] std::size_t bytes() const { return events_.capacity() * sizeof(trace::Event); }
    // They are written.
    void clear();
    // Where there are none.
    void free_memory() { std::vector<trace::Event>().swap(events_); }

  private:
    struct Call {
        std::uint64_t word = 0;
        trace::StackNumber node = trace::StackNumber::none;
    };
    // Each returns how many records behind it are its.
    std::size_t take_stack(std::span<const gr_record> rest, ProcessEvents &process);
    std::size_t take_text(std::span<const gr_record> rest, ProcessEvents &process);
    std::size_t take_place(std::span<const gr_record> rest, ProcessEvents &process);
    void cut_last_stack(std::size_t calls, ProcessEvents &process);
    static std::pair<std::string, std::size_t> text_behind(std::span<const gr_record> rest);
    void add(const gr_record &record, ProcessEvents &process);
    void add_request(const gr_record &record, ProcessEvents &process);
    void take_thread_stack(const gr_record &record, ProcessEvents &process);
    void put_last_in_order();
    [[nodiscard]] trace::Time time_of(const gr_record &record, const ProcessEvents &process) const;

    static constexpr std::size_t kMostStacks = std::size_t{1} << 16;
    static constexpr std::uint64_t kMostLost = UINT32_MAX;  // that a chunk of the trace can tell

    trace::Thread thread_;
    std::vector<trace::Event> events_;
    std::size_t last_ = 0;                                 // the place of the one that came last
    trace::Time written_;                                  // of the last that is
    trace::Time now_;                                      // when the records came: none can be of later
    trace::StackNumber stack_ = trace::StackNumber::none;  // of the next
    std::vector<Call> last_stack_;    // room for the most calls; the last one that is not apart, the outermost first
    std::size_t last_calls_ = 0;      // of it
    std::uint64_t last_unloads_ = 0;  // for which its nodes are right
    std::uint64_t lost_ = 0;
    std::uint64_t pointer_ = 0;  // the thread's; 0: not known
};

}  // namespace gr::tool
