// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tells the recorder which libraries are loaded, before one is unloaded and after it.
// Invariant: no stack is recorded with a library that took the place of another before the recorder knows of both. No
//    lock is held while the library is unloaded.
// Must not know: what the recorder makes of it.
#pragma once

#include <atomic>
#include <cstdint>

namespace gr {

class Unloading {
  public:
    constexpr Unloading() = default;

    // Called around dlclose, by any thread.
    void begin();
    void end();

  private:
    // How often the loader had loaded and unloaded a library when the recorder last looked; ordered by nothing. A child
    // of fork begins with its parent's, though its recorder looked when the child arrived: what has been loaded since
    // is more.
    std::atomic<std::uint64_t> seen_loaded_{0};
    std::atomic<std::uint64_t> seen_unloaded_{0};
};

inline constinit Unloading unloading;

}  // namespace gr
