// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the name of the allocator that this library was built for, and whether it can be shown.
// Invariant: an allocator that does not tell what it holds is refused, never shown wrong.
// Must not know: which allocator.
#include "chosen_allocator.hpp"
#include "show/recorded.hpp"
#include "show/stage_functions.hpp"

namespace gr::lab::show {

constinit const ChosenAllocator chosen_allocator{
    kChosenName, CanBeShown<Chosen> ? nullptr : "this allocator does not tell what it holds, so it cannot be shown"};

}  // namespace gr::lab::show
