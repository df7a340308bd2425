// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the four kinds that every client has, and the collector's start.
// Invariant: the kinds 0 to 3 are made first and in this order, for clients name them by number.
// Must not know: the names that programs call; variables of theirs.
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
// What stops threads unless the program names another one.
int default_suspend_signal();

// Once; calls again do nothing. false: no addresses, no signal. The handlers of fork are the caller's affair.
bool start_kinds(int suspend_signal);

// For fork: handlers that hold every lock of the collector's and of its kinds. A client may call them itself.
void lock_for_fork();
void unlock_after_fork();
void unlock_in_child();

// What is freed must be zero where the dead are told of, or blocks are asked what they hold.
void free_block(const BlockAt &block);

}  // namespace gr
