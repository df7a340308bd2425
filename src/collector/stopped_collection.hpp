// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a collection of the whole heap in one stop.
// Invariant: either all that is unreachable is freed, or nothing is.
// Must not know: when a collection is due; incremental collections.
#pragma once

#include "collector/collection_parts.hpp"

namespace gr {

class StoppedCollection {
  public:
    constexpr explicit StoppedCollection(const CollectionParts &parts) : parts_(parts) {}
    StoppedCollection(const StoppedCollection &) = delete;
    StoppedCollection &operator=(const StoppedCollection &) = delete;

    // Under the collector's lock. The report's reason is the caller's; report->done says whether the collection was
    // done.
    void run(CollectionReport *report);

  private:
    bool mark(CollectionReport *report);
    void sweep(CollectionReport *report);

    const CollectionParts &parts_;
};

}  // namespace gr
