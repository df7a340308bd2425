// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a trace file: all that it tells but for its events at once, and these block by block.
// Invariant: opening reads heads and summaries only, and what is small. A file that is cut off or damaged is read up to
//    there, and damage() says so in one line. Immutable, so any number of threads may read blocks.
// Must not know: what the events are wanted for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reading/trace/columns.hpp"
#include "reading/trace/contents.hpp"
#include "reading/trace/event.hpp"
#include "reading/trace/mapped_file.hpp"
#include "reading/trace/stack_names.hpp"

namespace gr::trace {

struct EventBlock {
    EventsSummary summary;
    ByteView body;
    std::uint32_t body_check = 0;
    std::size_t stacks = 0;  // the numbers of stacks that came before it lie below
};

struct ResidentBlock {
    ResidentSummary summary;
    ByteView body;
};

struct MemoryBlock {
    MemorySummary summary;
    ByteView body;
    std::size_t stacks = 0;  // the numbers of stacks and of names that came before it lie below
    std::size_t names = 0;
};

class Trace {
  public:
    // Throws Failure, of one line: no such file, empty, no trace, one of another version, or one without a start that
    // can be read.
    explicit Trace(const std::string &path);

    [[nodiscard]] const std::string &path() const { return path_; }
    [[nodiscard]] std::uint64_t bytes() const { return file_.bytes().size(); }
    [[nodiscard]] const Start &start() const { return start_; }
    [[nodiscard]] const std::vector<Thread> &threads() const { return threads_; }  // by number
    [[nodiscard]] const std::vector<ModuleList> &modules() const { return modules_; }
    [[nodiscard]] const StackNames &stack_names() const { return names_; }
    [[nodiscard]] const std::vector<Mark> &marks() const { return marks_; }
    // Without what is resident of the recorder's own, as far as that was looked at; no less than what a look just before saw.
    [[nodiscard]] const std::vector<Sample> &samples() const { return samples_; }
    [[nodiscard]] const std::vector<Request> &requests() const { return requests_; }  // by time
    [[nodiscard]] const std::vector<Relative> &relatives() const { return relatives_; }
    [[nodiscard]] const std::vector<StackNode> &stacks() const { return stacks_; }  // by number; 0 is none
    [[nodiscard]] const std::vector<EventBlock> &blocks() const {
        return blocks_;
    }  // as written: of each thread in order
    [[nodiscard]] const std::vector<ResidentBlock> &residents() const { return residents_; }
    // What the resident memory was, by time, and the names in it, by number; 0 is none.
    [[nodiscard]] const std::vector<MemoryBlock> &memory() const { return memory_; }
    [[nodiscard]] const std::vector<std::string> &memory_names() const { return memory_names_; }
    [[nodiscard]] const Symbols &symbols() const { return symbols_; }
    [[nodiscard]] const std::optional<End> &end() const { return end_; }
    // Where the chunks end that were read.
    [[nodiscard]] std::uint64_t readable_bytes() const { return readable_bytes_; }
    [[nodiscard]] ByteView file() const { return file_.bytes(); }
    // Empty: none.
    [[nodiscard]] const std::string &damage() const { return damage_; }

    [[nodiscard]] std::uint64_t events() const { return events_; }
    [[nodiscard]] std::uint64_t lost() const { return lost_; }
    // The last moment of which anything is told.
    [[nodiscard]] Time last() const { return last_; }

    // Throws Damage.
    [[nodiscard]] Resident resident(const ResidentBlock &block) const;
    [[nodiscard]] MemoryLook memory_at(const MemoryBlock &block) const;

  private:
    void read_chunks();
    void take(ChunkKind kind, const ChunkHead &head, ByteView summary, ByteView body);
    void take_start(ByteView body);
    void take_events(ByteView summary, ByteView body, std::uint32_t body_check);
    void take_stacks(ByteView summary, ByteView body);
    void take_end(ByteView body);
    void take_samples(ByteView summary, ByteView body);
    void take_requests(ByteView summary, ByteView body);
    void take_resident(ByteView summary, ByteView body);
    void take_memory(ByteView summary, ByteView body);
    void leave_out_recorder();
    void complete_threads();
    void check_thread(ThreadNumber number) const;
    void note(Time time) {
        if (time > last_) last_ = time;
    }

    std::string path_;
    MappedFile file_;
    Start start_;
    bool has_start_ = false;
    std::vector<Thread> threads_;
    std::vector<ModuleList> modules_;
    StackNames names_;
    std::vector<Mark> marks_;
    std::vector<Sample> samples_;
    std::vector<Request> requests_;
    std::vector<Relative> relatives_;
    std::vector<StackNode> stacks_{StackNode{}};
    std::vector<std::uint32_t> depths_{0};  // of each stack: how many calls it has
    std::vector<EventBlock> blocks_;
    std::vector<std::uint64_t> block_ends_;  // of each thread so far
    std::vector<ResidentBlock> residents_;
    std::vector<MemoryBlock> memory_;
    std::vector<std::string> memory_names_{std::string()};
    Symbols symbols_;
    std::optional<End> end_;
    std::string damage_;
    std::uint64_t readable_bytes_ = 0;
    std::uint64_t events_ = 0;
    std::uint64_t lost_ = 0;
    Time last_;
};

// The events of one block, in order.
class BlockReader {
  public:
    // Throws Damage.
    void begin(const EventBlock &block);
    // false: there is none any more. Throws Damage.
    bool next(Event *event);

  private:
    // A column of pairs: how many events to pass over, and a number.
    struct Sparse {
        NumberReader numbers;
        std::uint64_t passed_over = 0;

        void begin(const Bytes &bytes);
        std::uint64_t take();  // 0: nothing for this event
        bool is_there = false;
    };

    ColumnUnpacker unpacker_;
    std::vector<Bytes> columns_;
    NumberReader ops_;
    NumberReader times_;
    NumberReader addresses_;
    NumberReader sizes_;
    NumberReader alignments_;
    Sparse stacks_;
    Sparse timings_;
    void check(const Event &event) const;

    std::uint32_t left_ = 0;
    ThreadNumber thread_{};
    std::size_t stacks_before_ = 0;
    std::uint64_t time_ = 0;
    std::uint64_t last_time_ = 0;
    std::uint64_t address_ = 0;
};

}  // namespace gr::trace
