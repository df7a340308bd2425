// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: public_names.hpp in the library that has no name of libc's.
// Invariant: linked into libgranary-prefixed and nowhere else.
// Must not know: which code asks.
#include "platform/public_names.hpp"

const char gr_prefix = 1;
