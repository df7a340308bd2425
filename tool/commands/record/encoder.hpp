// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the thread that writes traces: what the others tell becomes files, one a process.
// Invariant: what waits to be written is of so many events at most, whatever there are of threads and processes. A
//    trace that cannot be written is said so of, once, and its process goes on unrecorded.
// Must not know: where messages come from.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/record/drain.hpp"
#include "commands/record/live_processes.hpp"
#include "commands/record/message.hpp"
#include "commands/record/process_trace.hpp"
#include "commands/record/terminal.hpp"
#include "commands/record/trace_names.hpp"

namespace gr::tool {

struct WrittenTrace {
    std::string path;
    std::uint32_t process = 0;
    std::uint64_t events = 0;
    std::uint64_t bytes = 0;
    std::uint64_t lost = 0;
};

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
    // The main process is the one that was asked for; its last program's trace is FILE.
    Encoder(const RecordingParts &parts, const RecordingSettings &settings, const std::string &file,
            std::uint32_t main_process);

    // Until Quit.
    void run();

    [[nodiscard]] std::uint64_t events() const { return events_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }
    // After run().
    [[nodiscard]] const std::vector<WrittenTrace> &written() const { return written_; }
    [[nodiscard]] bool has_failed() const { return has_failed_; }

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
    void take(const Ended &ended);
    void take(const Sampled &sampled);
    void take(const Quit &) { is_over_ = true; }

    void begin(const Arrived &arrived);
    [[nodiscard]] std::string name_for(const trace::Start &start);
    void relate(const trace::Start &start, const ProcessTrace &trace, std::uint64_t ticks);
    void leave(std::unique_ptr<ProcessTrace> trace, const Ended &ended);
    void end_left(std::uint32_t process, const std::string &next_file);
    void finish(ProcessTrace &trace, const Ended &ended);
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
