// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the collections that were done: the report of the last one, and the log of all.
// Invariant: written to under the collector's lock; a collection that was not done leaves no trace.
// Must not know: how objects are collected.
#pragma once

#include "collector/collection_log.hpp"

namespace gr {

class CollectionHistory {
  public:
    constexpr CollectionHistory() = default;
    CollectionHistory(const CollectionHistory &) = delete;
    CollectionHistory &operator=(const CollectionHistory &) = delete;

    // Once. nullptr: there is no log.
    void initialise(const char *log_path) { log_.initialise(log_path); }
    const CollectionReport &last() const { return last_; }
    // Gives the report its number.
    void add(CollectionReport *report) {
        report->number = last_.number + 1;
        last_ = *report;
        log_.tell(*report);
    }

  private:
    CollectionReport last_;
    CollectionLog log_;
};

}  // namespace gr
