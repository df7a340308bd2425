// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the signal that stops the program's threads.
// Invariant: while the collector runs, the program can neither block the signal nor replace its handler.
// Must not know: how threads are stopped, and why.
#pragma once

#include <signal.h>

namespace gr {

inline constexpr int kStopSignal = SIGPWR;

}  // namespace gr
