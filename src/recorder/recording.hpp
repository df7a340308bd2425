// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the recording as this process maps it: its parts, its clock, and its recorder.
// Invariant: mapped whole and checked. Its addresses are never unmapped: after give_up() they hold zeroes. A child of
//    fork has it as its parent had.
// Must not know: who writes into the rings.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "granary/wire/recording.h"

namespace gr {

class Recording {
  public:
    constexpr Recording() = default;

    // false: that is no recording of this version.
    bool map(const char *path);
    bool is_mapped() const { return is_mapped_; }
    // This process is recorded no more; a thread that is late writes into memory that nobody reads.
    void give_up();

    gr_recording &control() const { return *control_; }
    gr_recorded_process &process(std::uint32_t place) const {
        return reinterpret_cast<gr_recorded_process *>(begin_ + control_->processes_at)[place];
    }
    gr_recording_ring &ring(std::uint32_t place) const {
        return reinterpret_cast<gr_recording_ring *>(begin_ + control_->rings_at)[place];
    }
    gr_record *records(std::uint32_t ring) const {
        return reinterpret_cast<gr_record *>(begin_ + control_->records_at) + ring * control_->ring_records;
    }

    bool has_counter() const { return control_->clock == GR_CLOCK_COUNTER; }
    bool is_lossy() const { return (control_->flags & GR_RECORDING_LOSSY) != 0; }
    std::uint64_t now() const noexcept;

    // A call of a thread without a ring; ordered by nothing.
    void count_lost() const { std::atomic_ref(control_->lost).fetch_add(1, std::memory_order_relaxed); }
    // A process that cannot arrive; likewise. Where the recorder is gone, nobody reads it.
    void count_missed() const { std::atomic_ref(control_->missed).fetch_add(1, std::memory_order_relaxed); }
    // A program that this process is about to start, which cannot load this library; likewise. Not started after all:
    // the name stays.
    void count_unloaded(const char *name) const;
    void uncount_unloaded() const { std::atomic_ref(control_->unloaded).fetch_sub(1, std::memory_order_relaxed); }
    // The recorder looks at everything.
    void ring_bell() const;
    bool recorder_lives() const;
    // Waits while the word is that, and the recorder lives. false: it does not.
    bool wait_while(std::uint32_t *word, std::uint32_t value) const;

  private:
    bool is_whole(std::uint64_t bytes) const;

    bool is_mapped_ = false;
    char *begin_ = nullptr;
    std::size_t bytes_ = 0;
    gr_recording *control_ = nullptr;
};

inline constinit Recording recording;

}  // namespace gr
