// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a flame chart out of numbers by call stack.
// Invariant: nothing is lost: what belongs to a stack too small to be shown counts for the call that it came from. At
//    most kMostNodes nodes, and kMostParts numbers by slice.
// Must not know: what the numbers are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

inline constexpr std::size_t kMostNodes = 4000;
inline constexpr std::size_t kMostParts = 200'000;

struct StackMeasure {
    struct Part {
        std::uint32_t stack = 0;
        std::uint32_t slice = 0;
        double value = 0;
        std::uint32_t thread = 0;  // in Document::threads
    };
    std::string name;
    Unit unit = Unit::bytes;
    std::vector<double> values;     // by stack's number, of the stack itself
    std::vector<Part> parts;        // of the same values, where they are known by slice
    std::vector<Part> by_thread{};  // of the same values in no slice, where there are no parts
    // Parts are changes: what was so at the end of a slice is the sum of it and all before; values are the highest.
    bool is_running = false;
};

[[nodiscard]] FlameChart flame_of(const std::string &title, const std::vector<StackMeasure> &measures, CallSites &sites,
                                  bool has_threads = false);

}  // namespace gr::tool
