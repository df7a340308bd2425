// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what all sections of a report have in common: the trace, its time or a window of it, its threads.
// Invariant: lives longer than the sections.
// Must not know: the sections.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "reading/trace/reader.hpp"
#include "reporting/steps/thread_groups.hpp"
#include "reporting/steps/time_axis.hpp"

namespace gr::tool {

// The events of this time alone, with what was in use before it.
struct Window {
    trace::Time first;
    trace::Time last;

    bool operator==(const Window &) const = default;
};

// Behind the title of a chart whose numbers are estimated from the blocks of which a stack was taken.
inline constexpr std::string_view kEstimated = " (estimated from sampled stacks)";
// Before a sentence that only these blocks tell.
inline constexpr std::string_view kBySamples = "By the sampled stacks, ";

struct Scope {
    explicit Scope(const trace::Trace &the_trace, std::optional<Window> window = std::nullopt)
        : trace(the_trace),
          is_window(window.has_value()),
          time(window ? window->first : trace::Time{}, window ? window->last : the_trace.last()),
          threads(the_trace) {}

    const trace::Trace &trace;
    bool is_window;
    TimeAxis time;
    ThreadGroups threads;

    [[nodiscard]] std::uint64_t page_bytes() const { return trace.start().page_bytes; }
    [[nodiscard]] bool has_stacks() const { return trace.start().stacks != trace::Stacks::none; }
    [[nodiscard]] bool has_sampled_stacks() const { return trace.start().stacks == trace::Stacks::sampled; }
    // Behind a title, before a sentence.
    [[nodiscard]] std::string_view if_estimated(std::string_view words) const {
        return has_sampled_stacks() ? words : std::string_view();
    }
    // For how many blocks one stands of which a stack was taken: stacks are taken of each byte with the same chance.
    [[nodiscard]] double blocks_stood_for(std::uint64_t size) const {
        const auto mean = static_cast<double>(trace.start().stack_bytes);
        if (!has_sampled_stacks() || mean <= 1) return 1;
        return -1 / std::expm1(-static_cast<double>(size == 0 ? 1 : size) / mean);
    }
};

}  // namespace gr::tool
