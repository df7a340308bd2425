// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a list of pages or runs of pages in the order of their addresses, the highest first.
// Invariant: each begins below the one before it.
// Must not know: what lies there.
#pragma once

#include "parts/lists/linked_list.hpp"

namespace gr::lab {

template <class E>
concept HasBegin = std::derived_from<E, ListNode> && requires(const E element) {
    { element.begin() } -> std::same_as<char *>;
};

// The search is linear, as phkmalloc's is.
template <HasBegin Element>
class AddressList {
  public:
    Element *first() const { return list_.first(); }
    static Element *after(const Element *element) { return LinkedList<Element>::after(element); }

    // The last one that begins above the address; nullptr: there is none.
    Element *last_above(const char *address) const {
        Element *found = nullptr;
        for (Element *next = first(); next != nullptr && next->begin() > address; next = after(next)) found = next;
        return found;
    }
    void insert(Element *element) { list_.insert_after(last_above(element->begin()), element); }
    void remove(Element *element) { list_.remove(element); }

    bool is_valid() const {
        for (const Element *e = first(); e != nullptr && after(e) != nullptr; e = after(e))
            if (after(e)->begin() >= e->begin()) return false;
        return true;
    }

  private:
    LinkedList<Element> list_;
};

}  // namespace gr::lab
