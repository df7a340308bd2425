// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: GC_find_leak: reports the objects that nothing reaches and that the program did not free, before they are
//    swept.
// Invariant: leaks are looked for only if the program asked for it before the library was initialised.
// Must not know: how objects are found.
#pragma once

namespace gr {

// Once, if the client wants it. From now on no dead object is one that is only cached.
void begin_to_look_for_leaks();
// While the threads stand and everything reachable is marked.
void report_leaks();

}  // namespace gr
