// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how far an analysis has come, and whether anybody still wants it.
// Invariant: may be asked and stopped by any thread while another works.
// Must not know: what is analysed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace gr::tool {

// Thrown where the work is done, once nobody wants it.
struct Unwanted {};

class Course {
  public:
    void begin(std::uint64_t events) { all_ = events; }
    void pass(std::uint64_t events) {
        passed_ += events;
        if (is_stopped_) throw Unwanted();
    }
    void stop() { is_stopped_ = true; }
    // From 0 to 1.
    [[nodiscard]] double done() const {
        const auto all = static_cast<double>(all_);
        return all > 0 ? std::min(1.0, static_cast<double>(passed_) / all) : 0;
    }

  private:
    std::atomic<std::uint64_t> all_ = 0;
    std::atomic<std::uint64_t> passed_ = 0;
    std::atomic<bool> is_stopped_ = false;
};

}  // namespace gr::tool
