// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the displacements from an object's beginning at which pointers in the heap count while interior pointers do not.
// Invariant: displacement 0 always counts; others count once a client has registered them.
// Must not know: where pointers are looked for.
#pragma once

#include <cstddef>

namespace gr {

inline constexpr std::size_t kMostDisplacement = 4096;

// The process ends if the displacement is too large.
void register_displacement(std::size_t offset);
bool is_registered_displacement(std::size_t offset);
void forget_displacements();

}  // namespace gr
