// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how full a run of small regions is, in quarters that overlap, and which run is taken from next (jemalloc,
//    figure 5).
// Invariant: a run begins in QINIT and never comes back to it, so that one malloc and free neither make nor destroy a
//    run: what is destroyed went up before. Neighbours overlap, so no single region moves a run up and down.
// Must not know: runs; what is done with one that changes.
#pragma once

#include <concepts>
#include <cstdint>
#include <span>

namespace gr::lab {

enum class RunState : std::uint8_t { init, q0, q25, q50, q75 };
inline constexpr unsigned kRunStates = 5;
inline constexpr const char *kRunStateNames[kRunStates] = {"QINIT", "Q0", "Q25", "Q50", "Q75"};

template <class S>
concept RunStates = requires(RunState state, std::uint32_t used, std::uint32_t regions) {
    { S::after(state, used, regions) } -> std::same_as<RunState>;
    { S::is_destroyed_empty(state) } -> std::same_as<bool>;
    // The states that a new current run is looked for in, the best first.
    { S::preference() } -> std::convertible_to<std::span<const RunState>>;
};

struct Quartiles {
    // Where a run goes that has so many of its regions in use now.
    static constexpr RunState after(RunState state, std::uint32_t used, std::uint32_t regions) {
        while (state != RunState::q75 && 4 * used >= bounds(state).promoted_at * regions) state = next(state, 1);
        while (4 * used < bounds(state).demoted_below * regions) state = next(state, -1);
        return state;
    }
    static constexpr bool is_destroyed_empty(RunState state) { return state == RunState::q0; }
    // "Q50, Q25, Q0, then Q75": those may be almost full. One that emptied in QINIT is all that is left then.
    static constexpr std::span<const RunState> preference() { return kPreference; }

    // In quarters of the regions.
    struct Bounds {
        std::uint32_t demoted_below;
        std::uint32_t promoted_at;
    };
    static constexpr Bounds bounds(RunState state) { return kBounds[static_cast<unsigned>(state)]; }

  private:
    static constexpr RunState kPreference[kRunStates] = {RunState::q50, RunState::q25, RunState::q0, RunState::q75,
                                                         RunState::init};
    static constexpr Bounds kBounds[kRunStates] = {{0, 1}, {0, 2}, {1, 3}, {2, 4}, {3, 4}};

    static constexpr RunState next(RunState state, int by) {
        return static_cast<RunState>(static_cast<int>(state) + by);
    }
};

}  // namespace gr::lab
