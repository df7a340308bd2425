// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a doubly linked list through nodes that its elements inherit.
// Invariant: a node is in one list at most; node->next->previous = node.
// Must not know: what the elements are, and which thread may touch the list.
#pragma once

#include <concepts>

#include "base/check.hpp"

namespace gr::lab {

struct ListNode {
    ListNode *next = nullptr;
    ListNode *previous = nullptr;
};

template <std::derived_from<ListNode> Element>
class LinkedList {
  public:
    bool is_empty() const { return first_ == nullptr; }
    Element *first() const { return static_cast<Element *>(first_); }
    static Element *after(const Element *element) { return static_cast<Element *>(element->next); }

    void push_front(Element *element) { insert_after(nullptr, element); }
    // Behind one that is in the list; nullptr: in front of all.
    void insert_after(Element *place, Element *element) {
        ListNode *const previous = place;
        ListNode *const node = element;
        ListNode *&link = previous != nullptr ? previous->next : first_;
        node->previous = previous;
        node->next = link;
        if (link != nullptr) link->previous = node;
        link = node;
    }
    void remove(Element *element) {
        ListNode *const node = element;
        GR_CHECK(node->previous != nullptr || node == first_);
        (node->previous != nullptr ? node->previous->next : first_) = node->next;
        if (node->next != nullptr) node->next->previous = node->previous;
    }
    // nullptr: there is none.
    Element *pop_front() {
        Element *const element = first();
        if (element != nullptr) remove(element);
        return element;
    }

    // The list as a place in which its elements stand.
    void draw(auto &picture, auto parent, auto kind, const auto &name) const {
        const auto own = picture.place(parent, kind, picture.words(name), picture.words(name));
        for_each([&](const Element &element) { picture.stands(&element, own); });
    }
    void for_each(auto visit) const {
        for (Element *element = first(); element != nullptr; element = after(element)) visit(*element);
    }

  private:
    ListNode *first_ = nullptr;
};

}  // namespace gr::lab
