// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: perfetto.hpp.
// Invariant: as there. A counter has at most two values in each of kSteps pieces of the time: the most, and the last.
// Must not know: how Perfetto shows it.
#include "commands/export/perfetto.hpp"

#include <fmt/format.h>

#include <string>

#include "base/text.hpp"
#include "commands/export/protobuf.hpp"
#include "reading/trace/columns.hpp"
#include "reading/trace/playback.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

namespace {

// The fields' numbers.
constexpr std::uint32_t kPacketOfTrace = 1;
namespace packet {
enum : std::uint32_t { kTimestamp = 8, kSequence = 10, kEvent = 11, kDescriptor = 60 };
}
namespace descriptor {
enum : std::uint32_t { kId = 1, kName, kProcess, kThread, kParent, kCounter = 8 };
}
namespace process {
enum : std::uint32_t { kPid = 1, kWords, kName = 6 };
}
namespace thread {
enum : std::uint32_t { kPid = 1, kTid, kName = 5 };
}
namespace counter {
enum : std::uint32_t { kUnit = 3, kUnitName = 6 };
}
namespace event {
enum : std::uint32_t { kType = 9, kTrack = 11, kName = 23, kCounterValue = 30, kRealCounterValue = 44 };
}

constexpr std::uint64_t kInstant = 3;
constexpr std::uint64_t kCounterType = 4;
constexpr std::uint64_t kUnitCount = 2;
constexpr std::uint64_t kUnitBytes = 3;
constexpr std::uint64_t kUnitOther = 0;
constexpr std::uint64_t kSequenceNumber = 1;

// Tracks by id; threads come behind.
enum Track : std::uint64_t { kProcessTrack = 1, kLiveBytes, kLiveBlocks, kResident, kCpu, kMapped, kFirstThread };

constexpr std::uint64_t kSteps = 8192;
constexpr std::uint64_t kMostInstants = 10'000;
constexpr std::uint64_t kLeastInstant = std::uint64_t{64} << 10;

// Of allocations from there up there are few enough to be shown one by one.
std::uint64_t large_size(const trace::Trace &trace) {
    std::uint64_t count = 0;
    for (unsigned bucket = trace::kSizeBuckets; bucket-- > 1;) {
        for (const trace::EventBlock &block : trace.blocks()) count += block.summary.sizes[bucket];
        const std::uint64_t begin = trace::bucket_end(bucket - 1) + 1;
        if (count > kMostInstants) return trace::bucket_end(bucket) + 1;
        if (begin <= kLeastInstant) break;
    }
    return kLeastInstant;
}

class Packets : public trace::Listener {
  public:
    Packets(const trace::Trace &trace, Sink &sink)
        : trace_(trace), sink_(sink), step_(trace.last().units / kSteps + 1), large_(large_size(trace)) {}

    void write() {
        describe();
        trace::Playback playback(trace_);
        playback.play(*this);
        if (bytes_.is_open) close_step();
        for (const trace::Mark &mark : trace_.marks())
            instant(mark.time, kFirstThread + trace::number_of(mark.thread), printable(mark.text));
        write_samples();
        write_mapped();
    }

    void before(const trace::Event &event) override {
        if (bytes_.is_open && event.time.units / step_ != bytes_.last.units / step_) close_step();
    }
    void born(const trace::Block &block) override {
        bytes_.change(block.born, block.size);
        blocks_.change(block.born, 1);
        if (block.size < large_) return;
        instant(block.born, kFirstThread + trace::number_of(block.thread),
                fmt::format("allocates {}", bytes_words(static_cast<double>(block.size))));
    }
    void died(const trace::Block &block, const trace::Event &event) override { gone(block, event.time); }
    void vanished(const trace::Block &block, trace::Time time) override { gone(block, time); }

  private:
    struct Live {
        std::uint64_t now = 0;
        std::uint64_t most = 0;  // of this step
        trace::Time when_most;
        trace::Time last;
        bool is_open = false;

        // Modulo 2^64: what was taken away is the complement.
        void change(trace::Time time, std::uint64_t by) {
            now += by;
            if (!is_open || now > most) {
                most = now;
                when_most = time;
            }
            last = time;
            is_open = true;
        }
    };

    void gone(const trace::Block &block, trace::Time time) {
        bytes_.change(time, 0 - block.size);
        blocks_.change(time, UINT64_MAX);
    }
    void close_step() {
        close(kLiveBytes, &bytes_);
        close(kLiveBlocks, &blocks_);
    }
    void close(Track track, Live *live) {
        if (live->when_most != live->last) count(live->when_most, track, live->most);
        count(live->last, track, live->now);
        live->is_open = false;
    }

    void packet_of(trace::Time time, std::uint32_t field, const Message &content) {
        Message one;
        one.number(packet::kTimestamp, time.units * trace::kTimeUnitNanoseconds);
        one.number(packet::kSequence, kSequenceNumber);
        one.message(field, content);
        Message outer;
        outer.message(kPacketOfTrace, one);
        sink_.write(outer.bytes());
    }
    void instant(trace::Time time, std::uint64_t track, const std::string &name) {
        Message one;
        one.number(event::kType, kInstant);
        one.number(event::kTrack, track);
        one.text(event::kName, name);
        packet_of(time, packet::kEvent, one);
    }
    void count(trace::Time time, Track track, std::uint64_t value) {
        Message one;
        one.number(event::kType, kCounterType);
        one.number(event::kTrack, track);
        one.number(event::kCounterValue, value);
        packet_of(time, packet::kEvent, one);
    }
    void write_samples() {
        trace::Sample before;
        for (const trace::Sample &sample : trace_.samples()) {
            count(sample.time, kResident, sample.resident_bytes);
            const double microseconds = trace::seconds(trace::Time{sample.time.units - before.time.units}) * 1e6;
            const std::uint64_t used = sample.user_microseconds + sample.system_microseconds -
                                       before.user_microseconds - before.system_microseconds;
            before = sample;
            if (microseconds <= 0) continue;
            constexpr double kPercent = 100;
            Message one;
            one.number(event::kType, kCounterType);
            one.number(event::kTrack, kCpu);
            one.real(event::kRealCounterValue, static_cast<double>(used) / microseconds * kPercent);
            packet_of(sample.time, packet::kEvent, one);
        }
    }

    // A look that is damaged is left out.
    void write_mapped() {
        for (const trace::MemoryBlock &block : trace_.memory()) {
            try {
                const trace::MemoryLook look = trace_.memory_at(block);
                std::uint64_t resident = 0;
                for (const trace::MemoryPart &part : look.parts)
                    resident += part.kind == trace::MemoryKind::own ? part.resident : 0;
                count(look.time, kMapped, resident);
            } catch (const trace::Damage &) {
                continue;
            }
        }
    }

    void describe() {
        const trace::Start &start = trace_.start();
        Message one;
        one.number(process::kPid, static_cast<std::uint64_t>(start.process));
        for (const std::string &word : start.arguments) one.text(process::kWords, printable(word));
        one.text(process::kName, printable(start.program.substr(start.program.rfind('/') + 1)));
        describe_track(kProcessTrack, descriptor::kProcess, one);
        describe_counter(kLiveBytes, "bytes in use", kUnitBytes);
        describe_counter(kLiveBlocks, "blocks in use", kUnitCount);
        if (!trace_.samples().empty()) {
            describe_counter(kResident, "resident", kUnitBytes);
            describe_counter(kCpu, "CPU time of one CPU's", kUnitOther);
        }
        if (!trace_.memory().empty()) describe_counter(kMapped, "resident, mapped without malloc", kUnitBytes);
        for (const trace::Thread &thread : trace_.threads()) {
            Message names;
            names.number(thread::kPid, static_cast<std::uint64_t>(start.process));
            names.number(thread::kTid, static_cast<std::uint64_t>(thread.id));
            names.text(thread::kName, printable(thread.name));
            describe_track(kFirstThread + trace::number_of(thread.number), descriptor::kThread, names);
        }
    }
    void describe_track(std::uint64_t id, std::uint32_t field, const Message &content) {
        Message track;
        track.number(descriptor::kId, id);
        track.message(field, content);
        packet_of(trace::Time{}, packet::kDescriptor, track);
    }
    void describe_counter(Track id, const char *name, std::uint64_t unit) {
        Message one;
        if (unit != kUnitOther) {
            one.number(counter::kUnit, unit);
        } else {
            one.text(counter::kUnitName, "%");
        }
        Message track;
        track.number(descriptor::kId, id);
        track.text(descriptor::kName, name);
        track.number(descriptor::kParent, kProcessTrack);
        track.message(descriptor::kCounter, one);
        packet_of(trace::Time{}, packet::kDescriptor, track);
    }

    const trace::Trace &trace_;
    Sink &sink_;
    std::uint64_t step_;  // time units
    std::uint64_t large_;
    Live bytes_;
    Live blocks_;
};

}  // namespace

void write_perfetto(const trace::Trace &trace, Sink &sink) { Packets(trace, sink).write(); }

}  // namespace gr::tool
