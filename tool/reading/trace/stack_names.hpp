// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a trace itself tells of nodes in its tree of stacks: places, and names of code that lies in no file.
// Invariant: what is there was checked.
// Must not know: the tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "reading/trace/contents.hpp"

namespace gr::trace {

class StackNames {
  public:
    // Both throw Damage.
    void take_places(std::string_view json);
    void take_made_functions(std::string_view json);

    // Of a node's address from kFirstPlace on; nullptr: the trace does not tell.
    [[nodiscard]] const Place *place(std::uint64_t address) const;
    // Of a node's address that lies in no file; nullptr: the trace does not tell.
    [[nodiscard]] const std::string *made_function(std::uint64_t address) const;

  private:
    std::unordered_map<std::uint32_t, Place> places_;
    std::unordered_map<std::uint64_t, std::string> made_;
};

}  // namespace gr::trace
