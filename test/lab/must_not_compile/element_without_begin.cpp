// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what is listed by address says where it begins (parts/lists/address_list.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: constraints not satisfied|does not satisfy|constraint failure
#include "parts/lists/address_list.hpp"

using namespace gr::lab;

#ifdef CONTROL
struct Element : ListNode {
    char *begin() const;
};
#else
struct Element : ListNode {};
#endif

AddressList<Element> *list;
