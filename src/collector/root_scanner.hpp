// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: scans all roots: what threads have, variables, added ranges, what finalization keeps, and the blocks that are
//    kept until they are freed.
// Invariant: the threads stand. A block to which one of these words points is marked or on the worklist afterwards.
// Must not know: how marking goes on; why threads stand.
#pragma once

#include "collector/finalization.hpp"
#include "collector/hooks.hpp"
#include "collector/kinds.hpp"
#include "collector/markers.hpp"
#include "collector/roots.hpp"

namespace gr {

class RootScanner {
  public:
    constexpr RootScanner(const Kinds &kinds, Roots &roots, const Hooks &hooks, const Markers &markers,
                          const Finalization &finalization)
        : kinds_(kinds), roots_(roots), hooks_(hooks), markers_(markers), finalization_(finalization) {}
    RootScanner(const RootScanner &) = delete;
    RootScanner &operator=(const RootScanner &) = delete;

    // Before a scan. The stack of the thread that collects is in use from this pointer on; below it lie frames of the
    // collector and what was there before. nullptr: the thread that collects is the collector's own and has no roots.
    void set_caller(const char *stack_pointer) { caller_ = stack_pointer; }

    // false: there may be roots that were not found.
    bool scan(Marker &marker);
    // Scans stacks and what else threads have. By scan(), or by a hook that is called in its place.
    void push_threads();

  private:
    const Kinds &kinds_;
    Roots &roots_;
    const Hooks &hooks_;
    const Markers &markers_;
    const Finalization &finalization_;
    const char *caller_ = nullptr;
};

}  // namespace gr
