// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a look inside the allocator after each step, for allocators that allow one.
// Invariant: no other thread allocates while an inspector looks.
// Must not know: what the step was.
#pragma once

#include <cstddef>

namespace gr::fuzz {

class Inspector {
  public:
    virtual ~Inspector() = default;
    // Blocks besides the model's may have come or gone (a thread started, say); live_bytes are the model's.
    virtual void rebase(std::size_t live_bytes) = 0;
    // Null when all is well, else what is not.
    virtual const char *inspect(std::size_t live_bytes) = 0;
};

}  // namespace gr::fuzz
