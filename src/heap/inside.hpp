// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether the calling thread is inside the heaps already, of any instance: then this is a signal handler that
//    interrupted it.
// Invariant: who is inside for the second time never waits for a lock: its holder may be waiting for a lock of the
//    interrupted code.
// Must not know: what is done inside.
#pragma once

#include <cstdint>

namespace gr {

class [[nodiscard]] Inside {
  public:
    Inside() : again_(depth_++ != 0) {}
    ~Inside() { --depth_; }
    Inside(const Inside &) = delete;
    Inside &operator=(const Inside &) = delete;

    bool again() const { return again_; }
    // For those who have not come in.
    static bool is_inside() { return depth_ != 0; }
    // The same, for those further in.
    static bool is_again() { return depth_ > 1; }
    // Would enter again: for those who only ask.
    static bool is_interrupted() { return depth_ != 0; }

  private:
    static thread_local constinit std::uint32_t depth_;
    bool again_;
};

inline thread_local constinit std::uint32_t Inside::depth_ = 0;

}  // namespace gr
