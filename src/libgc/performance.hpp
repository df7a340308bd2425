// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the time that collections take, for the client and for the log.
// Invariant: nothing is counted before the client asks for it, as documented.
// Must not know: which step of a collection takes the time.
#pragma once

namespace gr {

// Called with the lock held, for each collection that was done.
void log_collection();
void begin_to_measure();
unsigned long measured_milliseconds();

}  // namespace gr
