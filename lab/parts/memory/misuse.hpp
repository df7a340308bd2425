// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the last words of a lab allocator whose header shows that a block is none.
// Invariant: one line on stderr, then SIGABRT, unless it is a warning.
// Must not know: which header.
#pragma once

#include "base/text.hpp"
#include "platform/process.hpp"

namespace gr::lab {

inline constexpr const char *kNoBlock = "not a block in use: foreign, inside a block, or already freed";

[[noreturn, gnu::cold, gnu::noinline]] inline void die(const void *p, const char *what) {
    TextBuffer<160> line;
    line << "granary: lab: free(" << p << "): " << what << "; aborting\n";
    platform::fatal(line.data(), line.size());
}

[[noreturn, gnu::cold]] inline void die_of_no_block(const void *p) { die(p, kNoBlock); }

// Of an allocator whose options say that misuse does not end the program.
[[gnu::cold, gnu::noinline]] inline void warn_of_no_block(const void *p) {
    TextBuffer<160> line;
    line << "granary: lab: free(" << p << "): " << kNoBlock << "; ignored\n";
    platform::write_all(2, line.data(), line.size());
}

}  // namespace gr::lab
