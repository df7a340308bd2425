// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: makes a program at a fixed address offer its own entry for malloc and free as their addresses.
// Invariant: compiled without -fPIE, else the addresses would be the library's; in code, not in data that the loader fills.
// Must not know: who compares them.
#include <cstdlib>

extern "C" {
using Allocate = void *(*)(std::size_t);
using Release = void (*)(void *);

Allocate address_of_malloc() { return std::malloc; }
Release address_of_free() { return std::free; }
}
