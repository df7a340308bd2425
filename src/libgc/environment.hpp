// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the environment variables of libgc.
// Invariant: a value that has no meaning is reported in one line and changes nothing.
// Must not know: when the variables are read.
#pragma once

namespace gr {

void read_environment();

}  // namespace gr
