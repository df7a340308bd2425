// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: ephemerons are settled by a marking that tells of each object that it marks, or not at all.
// Invariant: only the member that CONTROL adds is missing.
// Must not know: anything but the header it includes.
// Expects: template constraint failure|constraints not satisfied
#include "collector/ephemerons.hpp"

struct Marks {
    bool is_marked(const void *p) const;
    const void *base_of(const void *p) const;
    bool is_lost(const void *p) const;
    gr::platform::Range contents_of(const void *p) const;
    void mark(const void *p);
    void mark_from(const void *p);
    void mark_range(gr::platform::Range range);
    bool failed() const;
    void mark_each(auto names) {
        names([](const void *) {});
    }
#ifdef CONTROL
    void observe(gr::MarkObserver observer);
#endif
};

using Marking = gr::EphemeronMarking<Marks>;
