// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: containers are found by address and made by shape (parts/layout/container_sizes.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/layout/container_sizes.hpp"

using namespace gr::lab;

#ifdef CONTROL
static_assert(ContainerSizes<VariedContainers>);
#else
struct NotFound {
    Container *make(unsigned);
};
static_assert(ContainerSizes<NotFound>);
#endif
