// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the thread that writes traces: what the others tell becomes files, one a process.
// Invariant: what waits to be written is of so many events at most, whatever there are of threads and processes. If a
//    trace cannot be written, that is said once, what was written of it stays, and its process goes on unrecorded.
// Must not know: where messages come from.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "commands/record/drain.hpp"
#include "commands/record/live_processes.hpp"
#include "commands/record/message.hpp"
#include "commands/record/process_trace.hpp"
#include "commands/record/recorded_tree.hpp"
#include "commands/record/terminal.hpp"
#include "commands/record/trace_names.hpp"

namespace gr::tool {

// What the threads of the recorder share.
struct RecordingParts {
    const SharedRecording &recording;
    RecordingClock &clock;
    MessageQueue &messages;
    Drain &drain;
    LiveProcesses &live;
    Terminal &terminal;
};

class Encoder {
  public:
    struct Wanted {
        std::string file;
        std::uint32_t main_process = 0;  // the one that was asked for; its last program's trace is the file
        std::vector<std::string> only;   // names of the programs to record; empty: all
        bool ran_before = false;         // the main process
    };
    Encoder(const RecordingParts &parts, const RecordingSettings &settings, const Wanted &wanted);

    // Until Quit.
    void run();

    [[nodiscard]] std::uint64_t events() const { return events_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    // After run().
    [[nodiscard]] const std::vector<WrittenTrace> &written() const { return written_; }
    [[nodiscard]] bool has_failed() const { return has_failed_; }
    // Programs that ran and were not to be recorded.
    [[nodiscard]] const std::set<std::string> &passed_over() const { return passed_over_; }

  private:
    // A program that its process left for another by exec: it ends once the other's trace has its name.
    struct Left {
        std::unique_ptr<ProcessTrace> trace;
        Ended ended;
    };

    void take(const Arrived &arrived);
    void take(const Records &records);
    void take(const ThreadGone &gone);
    void take(const Leaving &leaving);
    void take(const CodeShown &shown);
    void take(const Ended &ended);
    void take(const Sampled &sampled);
    void take(const Quit &) { is_over_ = true; }

    // false: the program is not one to record.
    [[nodiscard]] bool begin(const Arrived &arrived);
    [[nodiscard]] bool is_wanted(const trace::Start &start);
    [[nodiscard]] std::string name_for(const trace::Start &start);
    void relate(const trace::Start &start, ProcessTrace &trace, std::uint64_t ticks);
    void find_inheritance(ProcessTrace &trace);
    void leave(std::unique_ptr<ProcessTrace> trace, const Ended &ended);
    void end_left(std::uint32_t process, const std::string &next_file);
    void finish(ProcessTrace &trace, const Ended &ended);
    void note_written(const ProcessTrace &trace, bool is_whole);
    void keep_within_bounds();
    void count();
    [[nodiscard]] bool is_named_by_user(std::uint32_t process) const {
        return process == main_process_ && !names_.file().empty();
    }
    // Whatever fails of it to be written ends the trace.
    template <class Work>
    void with_trace(Arrival arrival, Work work);
    void fail(Arrival arrival, const std::string &line);

    RecordingParts parts_;
    RecordingSettings settings_;
    TraceNames names_;
    std::uint32_t main_process_;
    std::vector<std::string> only_;
    bool ran_before_;  // the main process
    std::set<std::string> passed_over_;
    CodeFiles files_;
    std::map<Arrival, std::unique_ptr<ProcessTrace>> traces_;
    std::map<std::uint32_t, Left> left_;  // by process
    std::vector<WrittenTrace> written_;
    std::uint64_t ended_events_ = 0;
    std::uint64_t ended_bytes_ = 0;
    std::atomic<std::uint64_t> events_{0};  // ordered by nothing: they are shown
    std::atomic<std::uint64_t> bytes_{0};
    bool has_failed_ = false;
    bool is_over_ = false;
};

}  // namespace gr::tool
