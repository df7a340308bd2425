// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a collection of the whole heap in one stop.
// Invariant: either all that is unreachable is freed, or nothing is.
// Must not know: when a collection is due; incremental collections.
#pragma once

#include "collector/address_room.hpp"
#include "collector/collection_parts.hpp"

namespace gr {

class StoppedCollection {
  public:
    constexpr explicit StoppedCollection(const CollectionParts &parts) : parts_(parts) {}
    StoppedCollection(const StoppedCollection &) = delete;
    StoppedCollection &operator=(const StoppedCollection &) = delete;

    // Once, before any collection. address_limit: the bytes that the process may map; SIZE_MAX: there is no limit.
    void keep_room(std::size_t address_limit) { room_.begin(address_limit); }
    // Under the collector's lock. The report's reason is the caller's; report->done says whether the collection was
    // done.
    void run(CollectionReport *report);

  private:
    void end_refused();
    bool mark(CollectionReport *report);
    void sweep(CollectionReport *report);

    const CollectionParts &parts_;
    AddressRoom room_;  // given up while the collection runs
};

}  // namespace gr
