// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a line of JSON for each collection, at the end of a file that processes may share.
// Invariant: no descriptor stays open, for programs close those that they do not know; where a line cannot be written
//    no other is tried.
// Must not know: how it is collected; who reads it.
#pragma once

#include "collector/collection_report.hpp"

namespace gr {

class CollectionLog {
  public:
    constexpr CollectionLog() = default;

    // Once; nullptr: nothing is told. A path that does not fit is refused in one line.
    void initialise(const char *path);
    // With the lock of the collector, while the others run.
    void tell(const CollectionReport &report);

  private:
    static constexpr std::size_t kPathBytes = 4096;

    void give_up(const char *path, const char *what);

    char path_[kPathBytes]{};  // empty: nothing is told
};

}  // namespace gr
