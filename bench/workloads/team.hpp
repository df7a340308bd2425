// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: threads of a workload that share one job: where they meet, and how they agree to take another turn.
// Invariant: all take the same turns; a turn counts as one operation, whatever the number of threads.
// Must not know: what a turn is; which malloc it runs on.
#pragma once

#include <barrier>

#include "workload.hpp"

namespace gr::bench {

class Team {
  public:
    explicit Team(std::size_t threads) : barrier_(static_cast<std::ptrdiff_t>(threads)), parts_(threads) {}

    // Returns when all have come here.
    void meet() { barrier_.arrive_and_wait(); }

    // Whether to take this turn, the first being 0. The turns belong to the threads in rotation, as the frame divides
    // its operations, so that with --ops the team takes just so many.
    bool more(Worker &worker, std::size_t turn) {
        if (turn % worker.threads == worker.index) {
            go_on_ = worker.more();
            if (go_on_) worker.did(1);
        }
        meet();
        const bool go_on = go_on_;
        meet();  // no thread decides about the next turn before all know about this one
        return go_on;
    }

    // The sum of what all bring, in the order of the threads, so that it does not depend on which thread comes first.
    double sum(const Worker &worker, double part) {
        parts_[worker.index] = part;
        meet();
        double all = 0;
        for (const double each : parts_) all += each;
        meet();
        return all;
    }

  private:
    std::barrier<> barrier_;
    std::vector<double> parts_;
    bool go_on_ = false;
};

}  // namespace gr::bench
