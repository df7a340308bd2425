// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions that exported variables name until a client puts its own there.
// Invariant: a client may keep the old one and call it from its own.
// Must not know: the variables.
#pragma once

#include <cstddef>

namespace gr {

void *answer_null(std::size_t size);
// What all threads have: in a marking, with the world stopped.
void push_stacks();
void die_of_displacement(void *p);
void die_of_invisible(void *p);
void die_of_other_object(void *p, void *q);

}  // namespace gr
