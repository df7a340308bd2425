// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: tells the pace what a collection found and cost, and what was allocated since.
// Invariant: under the collector's lock. Nothing is counted where blocks are allocated. CPU time is read only if the
//    policy needs it; it does not pass while other processes have the CPU.
// Must not know: when the next collection is due; how objects are collected.
#pragma once

#include "collector/collection_history.hpp"
#include "collector/kinds.hpp"
#include "collector/pace.hpp"
#include "collector/roots.hpp"

namespace gr {

class Pacer {
  public:
    constexpr Pacer(const Kinds &kinds, const Roots &roots, const CollectionHistory &history, Pace &pace)
        : kinds_(kinds), roots_(roots), history_(history), pace_(pace) {}
    Pacer(const Pacer &) = delete;
    Pacer &operator=(const Pacer &) = delete;

    // Once, before any collection.
    void initialise(const Options &options);
    // Called by the collecting thread, where a collection begins and where everything is marked.
    void begin_marking();
    void end_marking();
    // Called as soon as all is counted: what other threads allocate when they run is not part of it.
    void learn(Found found, CollectionReport *report);
    // Called where a collection is due, when the units in use hold so many bytes.
    void reconsider(std::size_t held);

  private:
    std::size_t limit() const;
    std::size_t allocated_since_last() const;

    const Kinds &kinds_;
    const Roots &roots_;
    const CollectionHistory &history_;
    Pace &pace_;
    std::size_t group_limit_ = 0;  // bytes, of the process's control group
    // CPU time in nanoseconds; 0: not measured.
    std::uint64_t marking_from_ = 0;  // of the collecting thread
    std::uint64_t marking_ = 0;       // what marking took
    std::uint64_t learned_at_ = 0;    // of the process
};

}  // namespace gr
