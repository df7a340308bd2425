// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one thing that happens in a trace, as sections are told of it: a call, with the block that it made or freed.
// Invariant: of a trace the steps come in order, each with the point of time in which it lies. A call is one step, but
//    for a birth at an address in use: then a block vanishes first. A window's begin with the blocks that are in use by
//    then, in no order, and kBegun.
// Must not know: what sections make of it.
#pragma once

#include <cstdint>

#include "reading/trace/live_set.hpp"
#include "reporting/steps/time_axis.hpp"

namespace gr::tool {

enum class StepKind : std::uint8_t { born, died, failed, of_pages, unknown_free, vanished, alive, begun };

struct Step {
    trace::Block block;  // kFailed, kOfPages: what was asked for
    trace::Time time;
    trace::ThreadNumber thread{};   // that called
    std::uint64_t births = 0;       // blocks born so far, with it
    std::uint64_t bytes_born = 0;   // that they were asked for with
    std::uint32_t nanoseconds = 0;  // that the call took; 0: it was not timed
    std::uint32_t point = 0;
    trace::Op op{};  // of the call
    StepKind kind{};

    [[nodiscard]] bool is_event() const { return kind < StepKind::vanished; }
    [[nodiscard]] bool is_call() const { return is_event() && kind != StepKind::of_pages; }
    [[nodiscard]] bool obtains() const { return kind == StepKind::born || kind == StepKind::failed; }
    [[nodiscard]] std::uint64_t age() const { return time.units - block.born.units; }
};

}  // namespace gr::tool
