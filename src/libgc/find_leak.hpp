// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: reports leaks: objects that are unreachable although the program has not freed them.
// Invariant: leaks are searched only if the client asked for it before the library was initialised.
// Must not know: how objects are found.
#pragma once

namespace gr {

// Called once. From now on, a block in a cache does not count as a dead object.
void begin_to_look_for_leaks();
// Called while all threads are stopped and everything reachable is marked.
void report_leaks();

}  // namespace gr
