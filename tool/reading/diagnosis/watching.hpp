// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: whether the calls to malloc of a program can be watched by a preloaded library, and which of them it does not see.
// Invariant: follows from a diagnosis alone; nothing is examined here.
// Must not know: what is done with the calls.
#pragma once

#include <string>

#include "reading/diagnosis/diagnosis.hpp"

namespace gr::tool {

// The malloc that serves a program while it is watched.
enum class Served {
    as_ever,     // the program's usual one, behind the library that watches
    by_another,  // one that takes the place of the usual one
};

struct Watching {
    bool is_possible = true;
    std::string text;  // why it is not possible, or what is not seen; empty: all is seen
};

[[nodiscard]] Watching watching_of(const Diagnosis &diagnosis, Served served);

}  // namespace gr::tool
