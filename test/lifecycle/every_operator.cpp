// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: each form of new with its delete, for tools that take the place of the allocator, as valgrind does.
// Invariant: nothing is checked here: the tool that watches tells whether each delete frees what its new allocated.
// Must not know: which allocator serves it.
#include <cstddef>
#include <new>

namespace {

struct Small {
    int numbers[7];
};
struct alignas(64) Aligned {
    int numbers[20];
};

// The compiler may neither pair the two nor leave them out.
template <class Type>
Type *kept(Type *p) {
    asm volatile("" : "+r"(p) : : "memory");
    return p;
}

template <class Type>
void every_form() {
    delete kept(new Type);
    delete[] kept(new Type[5]);
    delete kept(new (std::nothrow) Type);
    delete[] kept(new (std::nothrow) Type[5]);
}

}  // namespace

int main() {
    every_form<Small>();
    every_form<Aligned>();
    ::operator delete(kept(::operator new(100)));
    ::operator delete (kept(::operator new(100)), std::size_t{100});
    ::operator delete[](kept(::operator new[](100)), std::size_t{100});
    return 0;
}
