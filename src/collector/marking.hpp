// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what links and finalizers ask of a marker once everything that roots reach is marked.
// Invariant: when a call that marks an object returns, everything that the object reaches is marked.
// Must not know: how objects are found and marked; why links and finalizers ask.
#pragma once

#include <concepts>
#include <cstddef>

#include "collector/mark_observer.hpp"
#include "platform/world/range.hpp"

namespace gr {

// is_marked(object)   whether the object stays. An object that is kept until freed stays while it is not freed.
// base_of(address)    the beginning of the object that the address points into; nullptr: there is none.
// is_lost(address)    whether the address points into an object that does not stay, or into the heap but no object.
// contents_of(object) the part of the object whose words may be pointers; empty: none may. The whole object, if a map
//                     says which of its words are pointers.
// mark(object)        marks the object and everything that it reaches; nothing if the object is marked already.
// mark_each(name)     marks all objects for which name(mark) calls mark(object), and everything that they reach.
// mark_from(object)   marks what the object's contents reach; the object itself only if that leads back to it.
// mark_range(range)   marks what these words reach, taken as words of an object.
template <class M>
concept Marking = requires(M &marking, const M &marked, const void *p, platform::Range range) {
    { marked.is_marked(p) } -> std::same_as<bool>;
    { marked.base_of(p) } -> std::same_as<const void *>;
    { marked.is_lost(p) } -> std::same_as<bool>;
    { marked.contents_of(p) } -> std::same_as<platform::Range>;
    { marking.mark(p) } -> std::same_as<void>;
    {
        marking.mark_each([](auto mark) { mark(static_cast<const void *>(nullptr)); })
        } -> std::same_as<void>;
    { marking.mark_from(p) } -> std::same_as<void>;
    { marking.mark_range(range) } -> std::same_as<void>;
};

// observe(observer)   the observer is told of each object that is marked from now on; if it is empty, nobody is told.
// failed()            whether memory ran out, so that not all is marked that should be.
template <class M>
concept ObservableMarking = Marking<M> && requires(M &marking, const M &marked, MarkObserver observer) {
    { marking.observe(observer) } -> std::same_as<void>;
    { marked.failed() } -> std::same_as<bool>;
};

// Like mark_from, but pointers of the object into itself do not count. A way back through other objects does.
template <Marking M>
void mark_from_except_self(M &marking, const void *object) {
    const platform::Range contents = marking.contents_of(object);
    const char *begin = contents.begin;
    for (const char *at = begin; contents.end - at >= static_cast<std::ptrdiff_t>(sizeof(void *));
         at += sizeof(void *)) {
        // The program wrote the word as any type.
        const void *word = nullptr;
        __builtin_memcpy(&word, at, sizeof word);
        if (marking.base_of(word) != object) continue;
        marking.mark_range({begin, at});
        begin = at + sizeof(void *);
    }
    marking.mark_range({begin, contents.end});
}

}  // namespace gr
