// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the four standard kinds, and the start of the collector.
// Invariant: the kinds 0 to 3 are made first and in this order, because clients name them by number.
// Must not know: the functions and variables that programs use.
#pragma once

#include "collector/collector.hpp"

namespace gr {

enum StandardKind : unsigned { kAtomic, kNormal, kUncollectable, kAtomicUncollectable, kStandardKinds };

inline constexpr KindSetup kStandardSetups[] = {
    {.descriptor = {}, .adds_size = false, .zeroed = false, .lifetime = Lifetime::collected},
    {.descriptor = {}, .adds_size = true, .zeroed = true, .lifetime = Lifetime::collected},
    {.descriptor = {}, .adds_size = true, .zeroed = true, .lifetime = Lifetime::until_freed},
    {.descriptor = {}, .adds_size = false, .zeroed = false, .lifetime = Lifetime::until_freed},
};
static_assert(std::size(kStandardSetups) == kStandardKinds, "each standard kind has a setup");

inline constexpr int kNoSignal = 0;
// The signal that stops threads, unless the program chooses another one.
int default_suspend_signal();

// Later calls do nothing. false: the kernel refused the addresses or the signal handler. The caller installs the handlers
// of fork.
bool start_kinds(int suspend_signal);

// Handlers for fork that hold every lock of the collector and of its kinds. A client may call them itself.
void lock_for_fork();
void unlock_after_fork();
void unlock_in_child();

}  // namespace gr
