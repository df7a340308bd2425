// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: slot.hpp for the model MODEL: local_exec in the program itself, the others in a shared library each.
// Invariant: the variable can be seen from outside its library, else the linker would choose a cheaper model.
// Must not know: which model it is.
#include "slot.hpp"

namespace gr::bench::MODEL {

thread_local constinit Identity slot = 0;

Identity get() { return slot; }
void set(Identity identity) { slot = identity; }

}  // namespace gr::bench::MODEL
