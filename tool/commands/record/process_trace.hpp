// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the trace of one process, from its arrival to its end: what is told of it becomes chunks of a file.
// Invariant: stacks, threads and modules stand in the file before the events that need them. Whatever fails to be
//    written throws Failure, and the file has no end then.
// Must not know: how records come here; other processes.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "commands/record/described_threads.hpp"
#include "commands/record/earlier_memory.hpp"
#include "commands/record/made_code.hpp"
#include "commands/record/memory_kinds.hpp"
#include "commands/record/message.hpp"
#include "commands/record/process_files.hpp"
#include "commands/record/recording_clock.hpp"
#include "commands/record/thread_events.hpp"
#include "reading/trace/writer.hpp"

namespace gr::tool {

class ProcessTrace {
  public:
    ProcessTrace(const std::string &path, const trace::Start &start, const Arrived &arrived,
                 const RecordingClock &clock, CodeFiles &files);

    void take(const Records &records);
    void take(const ThreadGone &gone);
    // Looks at the process, too, where it is time.
    void take(const Sampled &sampled);
    // Looks at the process: it is about to end, or to become another.
    void look();
    // Looks at which files it has mapped. Stacks that come later are taken with these.
    void look_at_modules();
    // Of a program that ran before: what it has mapped, and its threads' stacks.
    void look_at_earlier_memory();
    // What a child of fork has of its parent's memory; once, when the parent's records of the time before were taken.
    void inherit(const ProcessTrace &parent);
    [[nodiscard]] bool awaits_parent() const { return awaits_parent_ && parent != 0; }
    void add(const trace::Relative &relative) { writer_.relative(relative); }
    // Everything is written.
    void end(const Ended &ended);

    // Events that wait to be written, the memory for them, and for how long the first of them has waited, in units of time.
    [[nodiscard]] std::size_t waiting() const { return waiting_; }
    [[nodiscard]] std::size_t waiting_bytes() const { return waiting_bytes_; }
    [[nodiscard]] std::uint64_t longest_wait() const;
    // Both give memory back.
    void write_what_waits_longest();
    void free_what_is_empty();

    [[nodiscard]] std::uint32_t process() const { return process_; }
    [[nodiscard]] const std::string &program() const { return program_; }
    [[nodiscard]] trace::Time time(std::uint64_t ticks) const { return common_.clock.time(ticks, common_.origin); }
    [[nodiscard]] std::uint64_t events() const { return writer_.events_written(); }
    [[nodiscard]] std::uint64_t bytes() const { return writer_.bytes(); }
    [[nodiscard]] std::uint64_t lost() const { return lost_; }

    // Where it lies now.
    std::string path;
    // The nearest of its ancestors that is recorded; 0: none.
    std::uint32_t parent = 0;

  private:
    using Moment = std::chrono::steady_clock::time_point;
    using Threads = std::map<Tenant, ThreadEvents>;

    [[nodiscard]] trace::Time now() const { return time(common_.clock.now()); }
    void write(ThreadEvents &thread);
    void free_memory(ThreadEvents &thread);
    void write_small_things();
    void write_stacks();
    void write_places();
    void write_threads();
    void write_old(Moment now);
    [[nodiscard]] Threads::iterator longest_waiting();
    [[nodiscard]] bool is_known(std::uint64_t address) const;
    void look_for_new_modules();
    void look_at_made_code();
    void look_at_pages();
    void look_at_memory();
    void look_for_stacks();
    void tell_memory();

    std::uint32_t process_;
    std::string program_;
    trace::Writer writer_;
    CodeFiles &files_;
    MadeCode made_code_;
    ProcessEvents common_;
    Threads threads_;
    std::uint32_t thread_count_ = 0;
    std::size_t waiting_ = 0;
    std::size_t waiting_bytes_ = 0;
    std::uint64_t lost_ = 0;
    std::vector<trace::Sample> samples_;  // not written yet
    trace::Sample last_sample_;           // of which no part of the CPU time is less than before

    bool has_modules_ = false;
    std::size_t known_nodes_ = 0;  // of the new ones
    Moment next_modules_;
    std::chrono::milliseconds modules_pause_;

    Moment began_;
    Moment next_pages_;
    bool awaits_parent_ = true;
    MemoryKinds memory_;
    DescribedThreads described_;
    Moment next_memory_;
    Moment earliest_memory_;          // where more is resident than ever at a look
    std::uint64_t highest_look_ = 0;  // bytes
    Moment next_old_;
};

}  // namespace gr::tool
