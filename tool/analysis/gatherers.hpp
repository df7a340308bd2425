// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: hands each step of a trace to all who gather from it, without a virtual call.
// Invariant: a gatherer is told only of what it has a function for: born, died, vanished, called (each call to the allocator),
//            of_pages, event (a call to the allocator or the kernel), and of a window alive (each block that is in use at its
//            begin) and begun (these were all).
// Must not know: what is gathered.
#pragma once

#include <tuple>

#include "analysis/step.hpp"

namespace gr::analysis {

template <class Gatherer>
inline void tell(Gatherer &gatherer, const Step &step) {
    if constexpr (requires { gatherer.event(step); }) {
        if (step.is_event()) gatherer.event(step);
    }
    if constexpr (requires { gatherer.called(step); }) {
        if (step.is_call()) gatherer.called(step);
    }
    switch (step.kind) {
        case StepKind::kBorn:
            if constexpr (requires { gatherer.born(step); }) gatherer.born(step);
            break;
        case StepKind::kDied:
            if constexpr (requires { gatherer.died(step); }) gatherer.died(step);
            break;
        case StepKind::kVanished:
            if constexpr (requires { gatherer.vanished(step); }) gatherer.vanished(step);
            break;
        case StepKind::kOfPages:
            if constexpr (requires { gatherer.of_pages(step); }) gatherer.of_pages(step);
            break;
        case StepKind::kAlive:
            if constexpr (requires { gatherer.alive(step); }) gatherer.alive(step);
            break;
        case StepKind::kBegun:
            if constexpr (requires { gatherer.begun(step); }) gatherer.begun(step);
            break;
        case StepKind::kFailed:
        case StepKind::kUnknownFree:
            break;
    }
}

template <class... Gatherer>
inline void tell_all(std::tuple<Gatherer...> &gatherers, const Step &step) {
    std::apply([&](auto &...one) { (tell(one, step), ...); }, gatherers);
}

}  // namespace gr::analysis
