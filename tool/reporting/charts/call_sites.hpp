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

#include "reading/symbols/calls.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

class CallSites {
  public:
    // What the calls are found to be stays with them, for others.
    CallSites(const trace::Trace &trace, Calls &calls) : stacks_(trace.stacks()), calls_(calls) {}

    // The numbers in frames() of the calls that go on where one returns to: a function's, and those that the compiler put
    // into it; at least one, the outermost first.
    [[nodiscard]] const std::vector<std::uint32_t> &frames_of(std::uint64_t address);
    [[nodiscard]] const std::vector<Frame> &frames() const { return frames_; }
    [[nodiscard]] const std::vector<trace::StackNode> &stacks() const { return stacks_; }
    // The innermost calls, without operator new and its like: "f (a.cpp:3) < g < h".
    [[nodiscard]] std::string text(trace::StackNumber stack);

  private:
    const std::vector<trace::StackNode> &stacks_;
    Calls &calls_;
    std::vector<Frame> frames_;
    std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> by_address_;
    std::map<std::string, std::uint32_t> by_text_;
};

}  // namespace gr::tool
