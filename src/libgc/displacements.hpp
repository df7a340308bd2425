// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how far from its beginning a pointer in the heap may point into an object while interior pointers do not count.
// Invariant: 0 always; others as clients registered them.
// Must not know: who looks at pointers.
#pragma once

#include <cstddef>

namespace gr {

inline constexpr std::size_t kMostDisplacement = 4096;

// Dies of one that is too large.
void register_displacement(std::size_t offset);
bool is_registered_displacement(std::size_t offset);
void forget_displacements();

}  // namespace gr
