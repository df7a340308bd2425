// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the functions that the exported variables name until a client sets other ones.
// Invariant: a client may keep such a function and call it from its own.
// Must not know: the variables.
#pragma once

#include <cstddef>

namespace gr {

void *answer_null(std::size_t size);
// Pushes the roots of all threads. Called during marking, while all threads are stopped.
void push_stacks();
void die_of_displacement(void *p);
void die_of_invisible(void *p);
void die_of_other_object(void *p, void *q);

}  // namespace gr
