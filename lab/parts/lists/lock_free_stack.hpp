// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a stack that any thread may push to and pop from without a lock (Wasik 5.9).
// Invariant: no ABA: a pop compares a tag that grows with each change.
// Must not know: what the elements are.
#pragma once

#include <atomic>

#include "base/bits.hpp"
#include "platform/events.hpp"

namespace gr::lab {

// Of elements at multiples of kElementAlignment which stay mapped for ever, with an atomic `below` of their own.
template <class Element, std::size_t kElementAlignment>
class LockFreeStack {
  public:
    void push(Element *element) {
        std::uint64_t top = top_.load(std::memory_order_relaxed);
        do {
            platform::count(platform::Event::atomic_operation);
            element->below.store(pointer_of(top), std::memory_order_relaxed);
            // release: the element's contents, with the acquire of pop.
        } while (!top_.compare_exchange_weak(top, with_next_tag(element, top), std::memory_order_release,
                                             std::memory_order_relaxed));
    }
    // nullptr: there is none.
    Element *pop() {
        std::uint64_t top = top_.load(std::memory_order_acquire);  // pairs with push, as below
        for (;;) {
            Element *const element = pointer_of(top);
            if (element == nullptr) return nullptr;
            // May be stale: then the tag has grown.
            Element *const below = element->below.load(std::memory_order_relaxed);
            platform::count(platform::Event::atomic_operation);
            if (top_.compare_exchange_weak(top, with_next_tag(below, top), std::memory_order_acquire)) return element;
        }
    }

    // While no thread pushes or pops.
    void for_each(auto visit) const {
        Element *element = pointer_of(top_.load(std::memory_order_relaxed));
        for (; element != nullptr; element = element->below.load(std::memory_order_relaxed)) visit(*element);
    }

  private:
    // An address has kAddressBits; where it is zero, and above them, stands the tag.
    static constexpr unsigned kAddressBits = 48;
    static constexpr unsigned kLowBits = std::countr_zero(kElementAlignment);
    static constexpr std::uint64_t kPointerMask = low_bits(kAddressBits) & ~low_bits(kLowBits);
    static_assert(kLowBits >= 6, "the tag needs at least 6 low bits");

    static Element *pointer_of(std::uint64_t word) { return reinterpret_cast<Element *>(word & kPointerMask); }
    static std::uint64_t tag_of(std::uint64_t word) {
        return word >> kAddressBits << kLowBits | (word & low_bits(kLowBits));
    }
    static std::uint64_t with_next_tag(Element *element, std::uint64_t before) {
        const std::uint64_t tag = tag_of(before) + 1;
        return reinterpret_cast<std::uintptr_t>(element) | (tag & low_bits(kLowBits)) | tag >> kLowBits << kAddressBits;
    }

    std::atomic<std::uint64_t> top_{0};
};

}  // namespace gr::lab
