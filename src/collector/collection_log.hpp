// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a line of JSON for each collection, at the end of a file that several processes may share.
// Invariant: no descriptor stays open, because programs close descriptors that they do not know. After a line that
//    could not be written, no other line is tried.
// Must not know: how a collection works; who reads the log.
#pragma once

#include "collector/collection_report.hpp"

namespace gr {

class CollectionLog {
  public:
    constexpr CollectionLog() = default;

    // Once. nullptr: there is no log. A path that is too long is refused in one line.
    void initialise(const char *path);
    // Under the collector's lock, while the other threads run.
    void tell(const CollectionReport &report);

  private:
    static constexpr std::size_t kPathBytes = 4096;

    void give_up(const char *path, const char *what);

    char path_[kPathBytes]{};  // empty: there is no log
};

}  // namespace gr
