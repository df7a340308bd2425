// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the signal that stops the program's threads.
// Invariant: while the collector runs it is never blocked, nor another's, whatever the program asks for.
// Must not know: how threads are stopped, and why.
#pragma once

#include <signal.h>

namespace gr {

inline constexpr int kStopSignal = SIGPWR;

}  // namespace gr
