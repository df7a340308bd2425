// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: Remote lists on container headers (Wasik 001, 3.2.4.3), whose containers move freely.
// Invariant: who frees waits for nobody, since any list may be one without a lock (3.2), and never chases a container that
//            moves.
// Must not know: how any feature works.
//
//     threads   T1 --others'--> [header|remote list|o|o|o|...]
//     heaps     clear the lists of their own containers when a bin has no more
#pragma once

#include "parts/composed.hpp"

namespace gr::lab {

using Chosen = Composed<thread_heaps + containers + ownership + remote_lists_on_containers>;

}  // namespace gr::lab
