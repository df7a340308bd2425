// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a function that a marker calls for each object that it marks.
// Invariant: the function is called after the object was marked, once for each object. It may read marks and must not
//    mark anything itself.
// Must not know: why somebody observes; how objects are marked.
#pragma once

namespace gr {

struct MarkObserver {
    void (*tell)(void *context, const void *object) = nullptr;  // nullptr: nobody observes
    void *context = nullptr;
};

}  // namespace gr
