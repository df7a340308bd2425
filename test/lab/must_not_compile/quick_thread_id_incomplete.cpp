// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a quick id of a thread says whether it stays with the thread (parts/boehm/thread_table.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraint
#include "parts/boehm/thread_table.hpp"

using namespace gr::lab;

struct Part {
    static std::uintptr_t of_caller();
};

#ifdef CONTROL
ThreadTable<int, StackPage> table;
#else
ThreadTable<int, Part> table;
#endif
