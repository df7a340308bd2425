// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what links and finalizers ask of a marker once all that roots reach is marked.
// Invariant: whatever is marked, all that it reaches is marked when a call returns: each drains.
// Must not know: how objects are found and marked; what is asked for.
#pragma once

#include <concepts>
#include <cstddef>

#include "platform/world/range.hpp"

namespace gr {

// is_marked(object)   whether it stays. What is never collected stays as long as it is not freed.
// base_of(address)    of the object that the address points into, anywhere; nullptr: into none.
// is_lost(address)    whether it points into an object that does not stay, or to where objects are made and into none.
// contents_of(object) the part of it whose words may be pointers; empty: none may. For an object with a map of its
//                     pointers the whole.
// mark(object)        it, and all that it reaches; nothing if it is marked.
// mark_each(name)     the same of all objects for which name(mark) calls mark(object).
// mark_from(object)   what its contents reach as its kind says: itself only if something there points back to it.
// mark_range(range)   what these words reach, taken as words of an object.
template <class M>
concept Marking = requires(M &marking, const M &marked, const void *p, platform::Range range) {
    { marked.is_marked(p) } -> std::same_as<bool>;
    { marked.base_of(p) } -> std::same_as<const void *>;
    { marked.is_lost(p) } -> std::same_as<bool>;
    { marked.contents_of(p) } -> std::same_as<platform::Range>;
    { marking.mark(p) } -> std::same_as<void>;
    { marking.mark_each([](auto mark) { mark(static_cast<const void *>(nullptr)); }) } -> std::same_as<void>;
    { marking.mark_from(p) } -> std::same_as<void>;
    { marking.mark_range(range) } -> std::same_as<void>;
};

// As mark_from, but what in the object points into itself does not count. A way back through others does.
template <Marking M>
void mark_from_except_self(M &marking, const void *object) {
    const platform::Range contents = marking.contents_of(object);
    const char *begin = contents.begin;
    for (const char *at = begin; contents.end - at >= static_cast<std::ptrdiff_t>(sizeof(void *));
         at += sizeof(void *)) {
        // By whom it was written, and as what, is not known.
        const void *word = nullptr;
        __builtin_memcpy(&word, at, sizeof word);
        if (marking.base_of(word) != object) continue;
        marking.mark_range({begin, at});
        begin = at + sizeof(void *);
    }
    marking.mark_range({begin, contents.end});
}

}  // namespace gr
