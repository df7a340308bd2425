// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the threads of a trace as a report tells them apart: the most active each by itself, all others together.
// Invariant: at most kMost groups, by how many events they have; every thread is in one.
// Must not know: what threads did.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reading/trace/reader.hpp"

namespace gr::tool {

class ThreadGroups {
  public:
    static constexpr std::uint32_t kMost = 64;

    explicit ThreadGroups(const trace::Trace &trace);

    [[nodiscard]] std::uint8_t of(trace::ThreadNumber thread) const {
        return group_of_[static_cast<std::uint32_t>(thread)];
    }
    [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(names_.size()); }
    [[nodiscard]] const std::string &name(std::uint32_t group) const { return names_[group]; }
    [[nodiscard]] const std::vector<std::string> &names() const { return names_; }
    // How many threads the last group stands for; 0 or 1: all stand by themselves.
    [[nodiscard]] std::uint32_t others() const { return others_; }

  private:
    std::vector<std::uint8_t> group_of_;
    std::vector<std::string> names_;
    std::uint32_t others_ = 0;
};

}  // namespace gr::tool
