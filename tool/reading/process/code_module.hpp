// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a file that is loaded into a process, and where its code lies there.
// Invariant: a plain value.
// Must not know: who found it.
#pragma once

#include <cstdint>
#include <string>

namespace gr::tool {

struct CodeModule {
    std::uint64_t base = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    std::string build_id;  // empty: none
    std::string file;
};

}  // namespace gr::tool
