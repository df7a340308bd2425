// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a way for a thread to learn which thread, or which CPU, it is: one function, called from elsewhere.
// Invariant: get() is never inlined into its caller, so that every way pays the same call.
// Must not know: how long a way takes.
#pragma once

#include <cstdint>
#include <vector>

namespace gr::bench {

using Identity = std::uintptr_t;

struct Way {
    enum class Tells : std::uint8_t { nothing, thread, cpu };

    const char *name;
    Tells tells;
    Identity (*get)();
    void (*set)(Identity) = nullptr;  // where the thread chooses what it is called
};

// Those that this machine has.
std::vector<Way> ways();

}  // namespace gr::bench
