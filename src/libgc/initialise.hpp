// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: starts libgc with the settings of the client and of the environment.
// Invariant: the library starts once; a call in the meantime waits for the start. The environment overrides what the
//    client has set before.
// Must not know: what the settings change.
#pragma once

namespace gr {

void initialise();
// Afterwards the next call reads the environment again; nothing else is initialised again.
void forget_initialised();

}  // namespace gr
