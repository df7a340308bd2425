// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: collections over time as a picture: one self-contained SVG, two graphs for each process.
// Invariant: every collection is drawn where its time says; scales begin at zero, and have their largest number beside
//    them.
// Must not know: where they were read from.
#pragma once

#include <string>
#include <vector>

#include "commands/collections/collections.hpp"

namespace gr::tool {

[[nodiscard]] std::string collections_picture(const std::vector<ProcessCollections> &processes);

}  // namespace gr::tool
