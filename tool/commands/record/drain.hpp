// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: empties the rings, and sees who arrives, leaves and is gone.
// Invariant: a thread's records are told in their order; an arrival before its records, these before its leaving and
//    its end. One thread drains. What the recorded processes share is read once, and checked: they can write anything there.
// Must not know: what records mean, and how a trace is written.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "commands/record/message.hpp"
#include "commands/record/recording_clock.hpp"
#include "commands/record/shared_recording.hpp"

namespace gr::tool {

class Drain {
  public:
    Drain(const SharedRecording &recording, const RecordingClock &clock, MessageQueue &messages)
        : recording_(recording), clock_(clock), messages_(messages) {}

    // Until stop(); then it ends the queue.
    void run();
    void stop();
    // From any thread: that process is gone, and how.
    void end_process(const Ended &ended);
    // From the writing thread: the process that left may leave again.
    void forget_leaving(std::uint32_t place) { entries_[place].is_leaving.store(false, std::memory_order_release); }

    // From the writing thread: the process that asked for a look may ask for another one.
    void forget_look(std::uint32_t place) { entries_[place].is_looked_at.store(false, std::memory_order_release); }

  private:
    struct Entry {
        Arrival arrival{};
        std::uint32_t process = 0;
        std::uint32_t looks_told = 0;
        std::atomic<bool> is_looked_at{false};  // release and acquire: pair with each other
        std::uint32_t taker = 0;                // who had taken it, at the look before, and had not arrived
        std::atomic<bool> is_leaving{false};    // release and acquire: pair with each other
    };
    struct Ring {
        Tenant tenant{};
        Arrival arrival{};
        std::uint32_t thread = 0;
        std::uint32_t place = 0;  // of its process
        std::uint64_t head_before = 0;
        std::uint64_t tail = 0;  // the recorder's own: the one that is shared is for the thread
    };

    void pass();
    // What is to be told when the rings are empty.
    [[nodiscard]] std::vector<Message> look_at_entries();
    void take_arrival(std::uint32_t place);
    void end_told();
    void free_entry(std::uint32_t place);
    void end_entry(std::uint32_t place, const Ended &ended);
    [[nodiscard]] std::uint32_t ring_count() const;
    void empty_rings();
    bool empty(std::uint32_t number);
    void take_tenant(std::uint32_t number);
    void move_tail(std::uint32_t number, std::uint64_t to);
    void release(std::uint32_t number);
    void look_for_gone_threads();
    void look_for_gone_takers();
    [[nodiscard]] bool is_gone(std::uint32_t number) const;
    void end_all();

    const SharedRecording &recording_;
    const RecordingClock &clock_;
    MessageQueue &messages_;
    std::array<Entry, SharedRecording::kProcesses> entries_;
    std::uint32_t places_ = 0;  // of entries that ever had a process
    std::array<Ring, SharedRecording::kMostRings> rings_;
    std::uint64_t arrivals_ = 0;
    std::uint64_t tenants_ = 0;
    std::chrono::steady_clock::time_point looked_for_gone_;
    std::atomic<bool> is_stopping_{false};  // release and acquire: pair with each other
    std::mutex mutex_;
    std::vector<Ended> told_;  // under the mutex
};

}  // namespace gr::tool
