// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what a program will meet here: restartable sequences, page size, limits, the kernel's settings.
// Invariant: only reads; what cannot be read is said to be unknown, not guessed.
// Must not know: which program is asked about.
#pragma once

#include <string>
#include <vector>

namespace gr::tool {

struct Fact {
    std::string name;     // "rseq"
    std::string value;    // "on"
    std::string meaning;  // what follows for a program on Granary; may be empty
};

[[nodiscard]] std::vector<Fact> environment_facts();

}  // namespace gr::tool
