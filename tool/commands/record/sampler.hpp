// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a process's memory and time, at moments some milliseconds apart.
// Invariant: what costs more is asked less often, so that all of it stays below a hundredth of the time.
// Must not know: what becomes of the samples.
#pragma once

#include <time.h>

#include <chrono>
#include <cstdint>
#include <optional>

#include "reading/trace/contents.hpp"

namespace gr::tool {

class Sampler {
  public:
    using Clock = std::chrono::steady_clock;
    static constexpr std::chrono::milliseconds kPause{10};

    explicit Sampler(std::uint32_t process);

    [[nodiscard]] bool is_due(Clock::time_point now) const { return now >= next_; }
    // Without its time; nothing where the process is gone.
    [[nodiscard]] std::optional<trace::Sample> take();

  private:
    void look_at_details(Clock::time_point now);

    std::uint32_t process_;
    clockid_t cpu_clock_ = 0;
    bool has_cpu_clock_ = false;
    Clock::time_point next_;
    Clock::time_point next_details_;
    std::uint64_t lazy_free_bytes_ = 0;
    std::uint64_t huge_bytes_ = 0;
};

}  // namespace gr::tool
