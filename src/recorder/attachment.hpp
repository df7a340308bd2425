// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the process as its recorder knows it: how it arrives, and how it leaves.
// Invariant: the word is zeroed in every child that does not share memory, so whoever records looks at it first. Each
//    arrival has a number of its own, which no thread of the process or of its parents has seen before.
// Must not know: threads and their rings.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/config.hpp"

namespace gr {

inline constexpr std::uint32_t kUnknown = 0;
inline constexpr std::uint32_t kNothing = 1;  // this process is not recorded, nor a child of it
inline constexpr std::uint32_t kArriving = 2;
inline constexpr std::uint32_t kFirstArrival = 16;

// In pages of its own: no page is larger than a unit.
struct alignas(kUnitBytes) Attached {
    std::atomic<std::uint32_t> word{kUnknown};  // release: pairs with the acquire of who waits; else ordered by nothing
};
inline constinit Attached attached;

class Attachment {
  public:
    constexpr Attachment() = default;

    // That of the arrival, which is waited for, or what is less than any: nothing is to be recorded now. Signals are held.
    std::uint32_t number();
    std::uint32_t place() const { return place_; }
    // The recorder is gone.
    static void give_up() { attached.word.store(kNothing, std::memory_order_release); }
    // Before the process ends, so that the recorder sees it as it was. Who shares its memory only is not it.
    void leave() const;
    // Returns when the recorder has seen which files are mapped now.
    void show_code() const;
    // Nothing is recorded any more, and the recorder has what was.
    void end() const;
    // The next that asks arrives anew, in another recording.
    static void begin_anew() { attached.word.store(kUnknown, std::memory_order_release); }

  private:
    bool arrive();
    bool take_place();
    void tell_of_leaving() const;

    std::uint32_t generation_ = kFirstArrival;
    std::uint32_t place_ = 0;
    std::uint32_t process_ = 0;
    bool is_wiped_ = false;
};

inline constinit Attachment attachment;

}  // namespace gr
