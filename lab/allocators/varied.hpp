// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Wasik's allocator G (001, 5.8): F2 with containers of 1, 4, 16 and 64 KiB in super-containers.
// Invariant: a bin begins with the smallest container for two of its blocks, and takes a larger one as it asks for
//    more.
// Must not know: how any feature works.
// Finds: an address that leads to no container, or is not aligned; a double free where the container has no block in
//    use; a double free by another thread, if at all, when the remote list is cleared.
//
//     super-container of 64 KiB: one size of container within
//     [1K|1K|1K|...]   [  4K  |  4K  |...]   [    16K    |...]   [        64K        ]
#pragma once

#include "parts/composed/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + varied_containers + ownership + restricted_movement + remote_lists +
                        global_remote_list>;

}  // namespace gr::lab
