// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a collection of the blocks that were taken since the last collection, in one stop. It scans the roots and the old
//    blocks in pages that the program has written to.
// Invariant: old blocks keep their marks, so all of them stay. Either all young blocks that are unreachable from roots and
//    old blocks are freed, or nothing is.
// Must not know: when a collection is due; which blocks a collection of the whole heap would free.
#pragma once

#include "collector/collection_parts.hpp"

namespace gr {

class MinorCollection {
  public:
    constexpr explicit MinorCollection(const CollectionParts &parts) : parts_(parts) {}
    MinorCollection(const MinorCollection &) = delete;
    MinorCollection &operator=(const MinorCollection &) = delete;

    // Under the collector's lock, while old blocks are known. If it is not done, nothing is known to be old any more. It is
    // given up if it has to scan more than so many bytes of old blocks.
    void run(CollectionReport *report, std::size_t most_rescanned);

  private:
    bool mark(CollectionReport *report);
    void sweep(CollectionReport *report);

    const CollectionParts &parts_;
    std::size_t most_rescanned_ = SIZE_MAX;
    bool is_given_up_ = false;
};

}  // namespace gr
