// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: kinds whose dead objects are shown to a procedure of the client before they are freed.
// Invariant: the procedure is called with the lock held while the threads run, so that it may take locks of its own. What
//    was found dead stays until then. A freed object is zero, so an object is shown once for each time it was used.
// Must not know: what the procedures do.
#pragma once

namespace gr {

using DisclaimProcedure = int (*)(void *object);

// Sets the procedure of a kind. `whole`: what dead objects refer to stays, too, so that a chain of dead objects is freed
// one object at a time, and a cycle never.
void set_disclaim(unsigned kind, DisclaimProcedure disclaim, bool whole);

// Whether any kind has a procedure.
bool has_disclaims();
// Called while all threads are stopped and everything reachable is marked.
void keep_disclaimed();
// The program has marked an object itself: if it is one of the dead, it lives.
void note_marked();
// Called after the threads were resumed.
void disclaim_dead();

}  // namespace gr
