// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the places of a process: what nodes of its stacks stand for that is no address of code.
// Invariant: a place has one number, and keeps it. What is told of a place grows, so a place may be told again.
// Must not know: how stacks form a tree.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "reading/trace/contents.hpp"

namespace gr::tool {

class PlaceTable {
  public:
    // The address that stands for calls that were left out, called from that node.
    [[nodiscard]] std::uint64_t left_out(trace::StackNumber caller, std::uint64_t calls);
    // The address that stands for a place in a function of Python, whose word a stack has; whatever is known of it.
    [[nodiscard]] std::uint64_t of_word(std::uint64_t word);
    // What is known of it, without a number.
    void describe(std::uint64_t word, trace::Place place);
    // What was not told yet, as it is now; then it counts as told.
    [[nodiscard]] std::vector<trace::Place> take_untold();
    [[nodiscard]] bool has_untold() const { return !untold_.empty(); }

  private:
    [[nodiscard]] trace::Place &add();
    void tell(std::uint32_t number);

    std::vector<trace::Place> places_;
    std::vector<bool> is_untold_;
    std::vector<std::uint32_t> untold_;
    std::unordered_map<std::uint32_t, std::uint32_t> left_out_;  // by the caller's node
    std::unordered_map<std::uint64_t, std::uint32_t> words_;
    std::map<std::tuple<std::string, std::string, int>, std::uint32_t> described_;  // by function, file and line
};

}  // namespace gr::tool
