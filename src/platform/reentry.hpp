// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether the calling thread is inside the library's locked code already: then it runs a signal handler that
//    interrupted that code.
// Invariant: code that is entered for the second time never waits for a lock. The holder of that lock may be waiting for a
//    lock that the interrupted code holds.
// Must not know: which code is entered.
#pragma once

#include <cstdint>

namespace gr::platform {

class [[nodiscard]] Reentry {
  public:
    Reentry() : again_(depth_++ != 0) {}
    ~Reentry() { --depth_; }
    Reentry(const Reentry &) = delete;
    Reentry &operator=(const Reentry &) = delete;

    bool again() const { return again_; }
    // Asked before a call that would enter.
    static bool is_inside() { return depth_ != 0; }
    // Asked by code that has entered.
    static bool is_again() { return depth_ > 1; }
    // Asked by code that does not enter itself.
    static bool is_interrupted() { return depth_ != 0; }

  private:
    static thread_local constinit std::uint32_t depth_;
    bool again_;
};

inline thread_local constinit std::uint32_t Reentry::depth_ = 0;

}  // namespace gr::platform
