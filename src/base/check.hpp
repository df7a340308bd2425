// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: GR_CHECK, an assertion that debug builds run and release builds compile but never evaluate.
// Invariant: the condition has no effect that the program needs.
// Must not know: how a failure is reported; the platform defines check_failed.
#pragma once

#include "base/config.hpp"

namespace gr {

[[noreturn]] void check_failed(const char *condition, const char *file, unsigned line);

}  // namespace gr

#define GR_CHECK(condition)                                                       \
    do {                                                                          \
        if constexpr (::gr::kDebug) {                                             \
            if (!(condition)) ::gr::check_failed(#condition, __FILE__, __LINE__); \
        }                                                                         \
    } while (false)
