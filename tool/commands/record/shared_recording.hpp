// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the memory that the recorder shares with those whom it records: a file without a name, mapped here. The recorder
//    makes it, or a process that ran before does.
// Invariant: as granary/wire/recording.h says; it lives as long as this. The recorded program can write to all of it, so where its
//    parts lie is not read from it, and each number in it is checked when it is read.
// Must not know: who empties the rings, and what the records mean.
#pragma once

#include <granary/wire/recording.h>

#include <cstdint>
#include <optional>
#include <string>

namespace gr::tool {

struct RecordingSettings {
    std::uint64_t stack_bytes = 0;  // a stack for as many bytes, in the mean; 0: none; 1: each
    std::uint32_t stack_calls = 0;
    std::uint32_t timed_calls = 0;  // one call in so many; 0: none
    bool lossy = false;
};

class SharedRecording {
  public:
    static constexpr const char *kName = "granary-recording";  // of the memory, in lists of mappings
    static constexpr std::uint32_t kProcesses = 1024;
    static constexpr std::uint32_t kMostRings = 4096;  // one for each thread that lives
    static constexpr std::uint64_t kRingRecords = 8192;

    // Throws Failure.
    SharedRecording(const RecordingSettings &settings, std::uint32_t clock);
    // In a file of no size yet, which that process has open, too. It remains the caller's to close.
    SharedRecording(const RecordingSettings &settings, std::uint32_t clock, int file, std::uint32_t process);
    ~SharedRecording();
    SharedRecording(const SharedRecording &) = delete;
    SharedRecording &operator=(const SharedRecording &) = delete;

    // What a process is told, in GR_RECORDING_PATH.
    [[nodiscard]] std::string path() const;

    // Fewer than kMostRings where addresses are limited, in which the program, too, maps all of them.
    [[nodiscard]] std::uint32_t rings() const { return rings_; }

    [[nodiscard]] gr_recording &control() const { return *reinterpret_cast<gr_recording *>(begin_); }
    [[nodiscard]] gr_recorded_process &process(std::uint32_t place) const {
        return reinterpret_cast<gr_recorded_process *>(begin_ + kProcessesAt)[place];
    }
    [[nodiscard]] gr_recording_ring &ring(std::uint32_t place) const {
        return reinterpret_cast<gr_recording_ring *>(begin_ + kRingsAt)[place];
    }
    [[nodiscard]] const gr_record *records(std::uint32_t ring) const {
        return reinterpret_cast<const gr_record *>(begin_ + records_at_) + ring * kRingRecords;
    }

    // Whether any process has an entry.
    [[nodiscard]] bool has_processes() const;
    // Whether another process has this memory mapped; nothing if that process has ended, or is younger than the recorder and
    // may not be read.
    [[nodiscard]] std::optional<bool> is_mapped_by(std::uint32_t process) const;
    void ring_bell() const;

  private:
    static constexpr std::uint64_t kAlignment = 4096;
    static constexpr auto kAligned = [](std::uint64_t bytes) {
        return (bytes + kAlignment - 1) / kAlignment * kAlignment;
    };
    static constexpr std::uint64_t kProcessesAt = kAligned(sizeof(gr_recording));
    static constexpr std::uint64_t kRingsAt = kAligned(kProcessesAt + kProcesses * sizeof(gr_recorded_process));
    static constexpr std::uint64_t kBytesOfRing = kRingRecords * sizeof(gr_record);
    [[nodiscard]] static std::uint32_t rings_within_limit(std::uint32_t process);

    [[nodiscard]] static int make_file();

    int file_;
    bool is_own_file_;
    char *begin_ = nullptr;
    std::uint32_t rings_;
    std::uint64_t records_at_;
    std::uint64_t bytes_;
};

// Words that processes sleep on. The time-out is in milliseconds.
void wake_sleepers(std::uint32_t *word);
void sleep_while(std::uint32_t *word, std::uint32_t value, unsigned milliseconds);

}  // namespace gr::tool
