// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the maps of a process' heaps as a picture: one self-contained SVG.
// Invariant: every cell of a map is drawn where its address says; colours have their meaning written beside them.
// Must not know: how the heap was read.
#pragma once

#include <string>

#include "commands/why/why.hpp"

namespace gr::tool {

[[nodiscard]] std::string heap_picture(const Explanation &explanation);

}  // namespace gr::tool
