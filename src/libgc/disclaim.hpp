// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: kinds whose dead objects are shown to a procedure of the client's before they go.
// Invariant: the world runs and the lock is held while it is asked, so that it may take locks of its own; until then
//    what was found dead stays. Once freed an object is zero, so what is shown twice was used twice.
// Must not know: what the procedures do.
#pragma once

namespace gr {

using DisclaimProcedure = int (*)(void *object);

// Of a kind; `whole`: what the dead refer to stays, too, so that a chain of them goes one by one and a circle never.
void set_disclaim(unsigned kind, DisclaimProcedure disclaim, bool whole);

// Whether there is one.
bool has_disclaims();
// While the world is stopped and all that is reachable is marked.
void keep_disclaimed();
// After it was resumed.
void disclaim_dead();

}  // namespace gr
