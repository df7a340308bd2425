// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the environment variables of libgc.
// Invariant: a value that means nothing is told in one line, and changes nothing.
// Must not know: when it is read.
#pragma once

namespace gr {

void read_environment();

}  // namespace gr
