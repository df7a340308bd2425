// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a C++ program of which nothing but operator new can throw: it exits with 0 when it catches that.
// Invariant: nothing here brings the part of a static runtime that throws.
// Must not know: whether it is linked statically.
#include <new>

int main(int argc, char **) {
    try {
        ::operator delete(::operator new(static_cast<std::size_t>(argc) << 60));
    } catch (const std::bad_alloc &) {
        return 0;
    }
    return 1;
}
