// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how long collections take, for who asks and for the log.
// Invariant: as documented, nothing is counted before it is asked for.
// Must not know: what takes so long.
#pragma once

namespace gr {

// Of each that was done, under the lock.
void log_collection();
void begin_to_measure();
unsigned long measured_milliseconds();

}  // namespace gr
