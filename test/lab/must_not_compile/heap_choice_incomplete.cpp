// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a choice of heaps says which heap a call has entered (parts/composed/heap_choice.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/composed/heap_choice.hpp"

using namespace gr::lab;

struct Heap {
    HeapNumber number = 0;
    Lock<Rank::heap> lock;

    Lock<Rank::heap> &lock_of(unsigned) { return lock; }
};
struct Part : SingleHeap<Heap> {
    void enter(Heap *heap, unsigned bin);
};

#ifdef CONTROL
static_assert(HeapChoice<SingleHeap<Heap>, Heap>);
#else
static_assert(HeapChoice<Part, Heap>);
#endif
