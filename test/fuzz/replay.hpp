// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: runs a list of operations in this process and says how it went; what a printed failure compiles against.
// Invariant: nothing is allocated before the first operation.
// Must not know: where the operations come from.
#pragma once

#include <csignal>
#include <cstdio>
#include <initializer_list>
#include <span>

#include "model.hpp"

namespace gr::fuzz {

inline constexpr unsigned kStepSeconds = 100;  // a step that takes longer hangs
inline constexpr int kPassed = 0;
inline constexpr int kFailed = 1;

inline volatile std::size_t g_step = 0;

// The stuck thread may hold any lock, so this writes by itself.
inline void report_hang(int) {
    char line[64];
    const int length = std::snprintf(line, sizeof line, "fuzz: step %zu hung\n", g_step);
    const ssize_t written = write(STDERR_FILENO, line, static_cast<std::size_t>(length));
    _exit(written == length ? kFailed : kFailed + 1);
}

inline int replay(std::span<const Operation> operations, Inspector *inspector = nullptr) {
    std::signal(SIGALRM, &report_hang);
    Model model(inspector);
    bool passed = true;
    for (std::size_t i = 0; passed && i < operations.size(); ++i) {
        g_step = i + 1;
        alarm(kStepSeconds);
        passed = model.apply(operations[i]);
    }
    alarm(kStepSeconds);
    passed = passed && model.finish();
    alarm(0);
    if (!passed) {
        std::fprintf(stderr, "fuzz: %s\n", model.failure());
        _exit(kFailed);  // the heap may be in ruins: run nothing else on it
    }
    return kPassed;
}

inline int replay(std::initializer_list<Operation> operations) {
    return replay(std::span(operations.begin(), operations.size()));
}

}  // namespace gr::fuzz
