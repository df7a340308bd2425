// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the calls of a trace's stacks by name: of functions, files and lines, as far as the program's files still tell.
// Invariant: equal calls have one number. What is not known is its file and the offset in it, or its address.
// Must not know: what was allocated there.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/document.hpp"
#include "process/code_places.hpp"
#include "trace/reader.hpp"

namespace gr::analysis {

class CallSites {
  public:
    explicit CallSites(const trace::Trace &trace);

    // The number in frames() of the call that returns to that address.
    [[nodiscard]] std::uint32_t frame_of(std::uint64_t address);
    [[nodiscard]] const std::vector<Frame> &frames() const { return frames_; }
    [[nodiscard]] const std::vector<trace::StackNode> &stacks() const { return stacks_; }
    // The innermost calls, without operator new and its like: "f (a.cpp:3) < g < h".
    [[nodiscard]] std::string text(trace::StackNumber stack);

  private:
    [[nodiscard]] Frame named(std::uint64_t address);

    const std::vector<trace::StackNode> &stacks_;
    std::vector<trace::Module> modules_;  // by begin
    tool::CodePlaces places_;
    std::vector<Frame> frames_;
    std::unordered_map<std::uint64_t, std::uint32_t> by_address_;
    std::map<std::string, std::uint32_t> by_text_;
};

}  // namespace gr::analysis
