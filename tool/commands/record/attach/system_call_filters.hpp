// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the filters of system calls (seccomp) of a stopped thread, and what they do with a call.
// Invariant: a filter is a program of the process's: each instruction and each index in it is checked.
// Must not know: which calls are asked about.
#pragma once

#include <linux/filter.h>

#include <optional>
#include <span>
#include <vector>

#include "commands/record/attach/stopped_thread.hpp"

namespace gr::tool {

class SystemCallFilters {
  public:
    // Nothing: this command may not read them; only root may.
    [[nodiscard]] static std::optional<SystemCallFilters> of(const StoppedThread &thread);

    // Whether a call of this number, whose arguments are 0, would end the process, or send it a signal.
    [[nodiscard]] bool would_harm(long call) const;

    using Filter = std::vector<sock_filter>;
    explicit SystemCallFilters(std::vector<Filter> filters) : filters_(std::move(filters)) {}

  private:
    std::vector<Filter> filters_;
};

}  // namespace gr::tool
