// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the recorder's threads tell the one that writes traces, and the queue in which it waits for that.
// Invariant: what one thread tells arrives in its order. What waits is of so many bytes at most: who tells more waits.
//    Records wake a thread that sleeps in take() only where many wait; any other message wakes it.
// Must not know: what becomes of it.
#pragma once

#include <granary/wire/recording.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "reading/trace/contents.hpp"

namespace gr::tool {

// A process, from its arrival to its end; a number that is never used again.
enum class Arrival : std::uint64_t { none = 0 };
// A thread, from the first record in a ring to the end of its use of that ring; never used again.
enum class Tenant : std::uint64_t { none = 0 };

struct Arrived {
    Arrival arrival{};
    std::uint32_t place = 0;  // of its entry
    std::uint32_t process = 0;
    std::uint64_t ticks = 0;
    std::string allocator;
};
struct Records {
    Arrival arrival{};
    Tenant tenant{};
    std::uint32_t thread = 0;
    std::vector<gr_record> records;  // groups are whole
};
struct ThreadGone {
    Arrival arrival{};
    Tenant tenant{};
    std::uint64_t lost = 0;  // that no record tells of
};
// It waits to be told that it may go.
struct Leaving {
    Arrival arrival{};
    std::uint32_t place = 0;
};
// It waits until the files that it has mapped were looked at.
struct CodeShown {
    Arrival arrival{};
    std::uint32_t place = 0;
    std::uint32_t number = 0;  // of the look
};
struct Ended {
    Arrival arrival{};
    std::uint64_t ticks = 0;
    trace::End::Reason reason{};
    int status = 0;
};
struct Sampled {
    Arrival arrival{};
    std::uint64_t ticks = 0;
    trace::Sample sample;  // without its time
};
struct Quit {};

using Message = std::variant<Arrived, Records, ThreadGone, Leaving, CodeShown, Ended, Sampled, Quit>;

class MessageQueue {
  public:
    void put(Message message);
    // Quit, once all that was put is taken. Needs no memory.
    void end() noexcept;
    [[nodiscard]] Message take();

  private:
    static constexpr std::uint64_t kMostBytes = 16 << 20;
    static constexpr std::uint64_t kWakingBytes = 256 << 10;

    std::mutex mutex_;
    std::condition_variable is_filled_;
    std::condition_variable has_room_;
    std::deque<Message> messages_;
    std::uint64_t bytes_ = 0;
    bool is_ended_ = false;
};

}  // namespace gr::tool
