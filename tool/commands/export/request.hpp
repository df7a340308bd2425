// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which of a trace's numbers an export by call stack is to show.
// Invariant: a plain value.
// Must not know: the formats.
#pragma once

#include <cstdint>

namespace gr::tool {

// In use when most bytes were, in use at the end, or all that were allocated.
enum class Moment : std::uint8_t { peak, end, total };

struct What {
    Moment moment = Moment::peak;
    bool blocks = false;  // and not their bytes
    bool mapped = false;  // what was mapped without malloc, and not blocks
};

}  // namespace gr::tool
