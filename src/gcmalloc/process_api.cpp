// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the face's part in the process's life.
// Invariant: it begins after malloc's own part did, so that fork takes the collector's lock before those of the heap.
// Must not know: what begins.
#include "gcmalloc/face.hpp"

namespace {

[[gnu::constructor(102)]] void begin() { gr::face.begin(); }

}  // namespace
