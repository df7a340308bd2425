// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's start, with what clients and the environment set before.
// Invariant: once; calls by the way find it done or wait for it. The environment wins over what was set before.
// Must not know: what the settings change.
#pragma once

namespace gr {

void initialise();
// So that the next call reads the environment again; nothing else begins anew.
void forget_initialised();

}  // namespace gr
