// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how a torture program fails, and the statistics it may ask for when it runs on Granary.
// Invariant: nothing here allocates, so it may be used inside signal handlers and in fork's child.
// Must not know: anything of Granary beyond granary.h, and that only by weak references.
#pragma once

#include <black_box.hpp>

#include <cerrno>
#include <optional>

namespace gr::test {

using Random = black_box::Sequence;
using black_box::kSkipped;
using black_box::small_live_bytes;

// One line on stderr, then the process ends with status 1.
[[noreturn, gnu::format(printf, 1, 2)]] inline void fail(const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    black_box::leave(1, "%s\n", line);
}

// Empty when the allocator is not Granary.
inline std::optional<gr_statistics> statistics() {
    if (!black_box::granary_in_use()) return std::nullopt;
    return black_box::statistics();
}

inline void require_counting_equation(const gr_statistics &taken) {
    if (!black_box::counting_equation_holds(taken))
        fail("counting equation: %lu block bytes, but %lu live + %lu in magazines + %lu remote + %lu free",
             taken.block_bytes, small_live_bytes(taken), taken.magazine_bytes, taken.remote_bytes, taken.free_bytes);
}

inline bool rseq_in_use() {
    const std::optional<gr_statistics> taken = statistics();
    return taken && taken->rseq == 1;
}

// Every program calls this first: else a wrong LD_PRELOAD would test the system's malloc and pass, and a variant
// without rseq might run with it.
inline void require_granary() {
    black_box::require_granary();
    const char *tunables = std::getenv("GLIBC_TUNABLES");
    const bool switched_off = tunables != nullptr && std::strstr(tunables, "glibc.pthread.rseq=0") != nullptr;
    if (switched_off && rseq_in_use())
        fail("GLIBC_TUNABLES turns rseq off, yet the statistics say that Granary uses it");
}

}  // namespace gr::test
