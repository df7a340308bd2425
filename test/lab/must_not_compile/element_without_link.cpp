// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is linked has a node (parts/lists/linked_list.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraint|derived_from
#include "parts/lists/linked_list.hpp"

using namespace gr::lab;

#ifdef CONTROL
struct Linked : ListNode {};
static_assert(sizeof(LinkedList<Linked>) != 0);
#else
struct Loose {};
static_assert(sizeof(LinkedList<Loose>) != 0);
#endif
