// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: hands each step of a trace to all who gather from it, without a virtual call.
// Invariant: a gatherer is told only of what it has a function for: born, died, vanished, called (each call to the
//    allocator), of_pages, event (a call to the allocator or the kernel), and of a window alive (each block that is in
//    use at its begin) and begun (these were all).
// Must not know: what is gathered.
#pragma once

#include <tuple>

#include "reporting/steps/step.hpp"

namespace gr::tool {

template <class Gatherer>
inline void tell(Gatherer &gatherer, const Step &step) {
    if constexpr (requires { gatherer.event(step); }) {
        if (step.is_event()) gatherer.event(step);
    }
    if constexpr (requires { gatherer.called(step); }) {
        if (step.is_call()) gatherer.called(step);
    }
    if constexpr (requires { gatherer.born(step); }) {
        if (step.kind == StepKind::born) gatherer.born(step);
    }
    if constexpr (requires { gatherer.died(step); }) {
        if (step.kind == StepKind::died) gatherer.died(step);
    }
    if constexpr (requires { gatherer.vanished(step); }) {
        if (step.kind == StepKind::vanished) gatherer.vanished(step);
    }
    if constexpr (requires { gatherer.of_pages(step); }) {
        if (step.kind == StepKind::of_pages) gatherer.of_pages(step);
    }
    if constexpr (requires { gatherer.alive(step); }) {
        if (step.kind == StepKind::alive) gatherer.alive(step);
    }
    if constexpr (requires { gatherer.begun(step); }) {
        if (step.kind == StepKind::begun) gatherer.begun(step);
    }
}

template <class... Gatherer>
inline void tell_all(std::tuple<Gatherer...> &gatherers, const Step &step) {
    std::apply([&](auto &...one) { (tell(one, step), ...); }, gatherers);
}

}  // namespace gr::tool
