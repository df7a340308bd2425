// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: counter.hpp for x86-64: the time-stamp counter.
// Invariant: as there; the kernel says what it is worth.
// Must not know: what is timed.
#include <x86intrin.h>

#include <fstream>
#include <string>

#include "commands/record/counter/counter.hpp"

namespace gr::tool {

bool has_steady_counter() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("flags")) {
            line += ' ';
            return line.find(" constant_tsc ") != std::string::npos && line.find(" nonstop_tsc ") != std::string::npos;
        }
    }
    return false;
}

std::uint64_t counter() { return __rdtsc(); }

}  // namespace gr::tool
