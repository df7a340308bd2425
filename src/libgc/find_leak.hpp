// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: leaks: objects that nothing reaches and that nobody freed, told of before they are.
// Invariant: only where it was asked for before the library was initialised.
// Must not know: how objects are found.
#pragma once

namespace gr {

// Once, if the client wants it: from now on no dead object is one that lies in a cache.
void begin_to_look_for_leaks();
// While the world is stopped and all that is reachable is marked.
void report_leaks();

}  // namespace gr
