// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a trace from its first event to its last, each free with the block that it frees.
// Invariant: a block is born once and dies at most once. Events that bear the same time but are of several threads are
//    taken in an order that is possible, if there is one: no block is born where one is in use, none dies before it is
//    born. Of more than kMostTogether events of one time, so many at a time are put in order. What is not possible (the
//    recording began later, or lost some) is told as that.
// Must not know: what is done with it.
#pragma once

#include <cstdint>
#include <vector>

#include "reading/trace/live_set.hpp"
#include "reading/trace/position.hpp"
#include "reading/trace/stream.hpp"

namespace gr::trace {

// What happens, one at a time; who listens overrides what it wants to know.
class Listener {
  public:
    virtual ~Listener() = default;
    virtual void born(const Block &) {}
    virtual void died(const Block &, const Event & /* the free */) {}
    virtual void failed(const Event &) {}    // a call that got no memory
    virtual void of_pages(const Event &) {}  // a call to the kernel
    virtual void unknown_free(const Event &) {}
    // A block whose free is missing, for another is born at its address now.
    virtual void vanished(const Block &, Time) {}
    // Any of the above comes next.
    virtual void before(const Event &) {}
};

class Playback {
  public:
    explicit Playback(const Trace &trace) : stream_(trace) {}
    Playback(const Trace &trace, const Position &position);

    // All that is left, or until an event comes later than that.
    void play(Listener &listener) { play(listener, Time{UINT64_MAX}); }
    void play(Listener &listener, Time until);

    [[nodiscard]] const LiveSet &live() const { return live_; }
    // Born so far, and with how many bytes.
    [[nodiscard]] std::uint64_t births() const { return births_; }
    [[nodiscard]] std::uint64_t bytes_born() const { return bytes_born_; }
    [[nodiscard]] const Stream &stream() const { return stream_; }
    // Of all events until that time, which have been played.
    [[nodiscard]] Position position(Time time) const { return {time, live_, births_, bytes_born_}; }

  private:
    static constexpr std::size_t kMostTogether = 512;

    [[nodiscard]] bool is_possible(const Event &event) const;
    [[nodiscard]] std::size_t choose();
    void apply(const Event &event, Listener &listener);
    void play_together(Listener &listener);

    Stream stream_;
    LiveSet live_;
    std::uint64_t births_ = 0;
    std::uint64_t bytes_born_ = 0;
    Event next_;
    bool has_next_ = false;
    std::vector<Event> together_;       // of one time
    std::vector<std::uint64_t> asked_;  // of each thread: the last choice for which one of its events was asked
    std::uint64_t choices_ = 0;
};

}  // namespace gr::trace
