// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a C++ program on Granary: it exits with 0 when operator new and the runtime's own allocations are ours.
// Invariant: bad_alloc thrown by operator new is caught here, through the library's frames.
// Must not know: how it was linked.
#include <granary/heap.hpp>
#include <granary/memory_resource.hpp>

#include <cstdint>
#include <cstdio>
#include <memory>
#include <new>
#include <string>
#include <vector>

int main(int argc, char **) {
    if (gr_version() != GR_VERSION) return std::fprintf(stderr, "version %u\n", gr_version()), 1;
    const auto number = std::make_unique<int>(argc);
    const std::string text(1000, 'x');
    if (gr_owns(number.get()) == 0 || gr_owns(text.data()) == 0) return std::fputs("a block is not ours\n", stderr), 1;
    granary::heap heap;
    const std::pmr::vector<int> numbers(100, 1, &heap);
    const std::pmr::vector<int> others(numbers, granary::resource());
    if (gr_owns(numbers.data()) != 0) return std::fputs("a heap's block is malloc's\n", stderr), 1;
    if (gr_owns(others.data()) == 0) return std::fputs("a block is not ours\n", stderr), 1;
    try {
        ::operator delete(::operator new(SIZE_MAX / 2 + static_cast<std::size_t>(argc)));
    } catch (const std::bad_alloc &) {
        return 0;
    }
    return std::fputs("no bad_alloc\n", stderr), 1;
}
