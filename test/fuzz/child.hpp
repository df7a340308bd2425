// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: one run of a byte string in a process of its own.
// Invariant: what the child writes ends up in ChildEnd::output, as one line.
// Must not know: what the bytes mean.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace gr::fuzz {

struct ChildEnd {
    int status = 0;
    int signal = 0;  // 0: it left by itself
    std::string output;
};

// Starts this very program as `--replay FILE [--on ALLOCATOR]`, with the allocator preloaded.
ChildEnd run_child(std::span<const std::uint8_t> bytes, const std::string &allocator);

}  // namespace gr::fuzz
