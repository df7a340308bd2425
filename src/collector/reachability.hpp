// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: answers what finalization asks of a marker (marking.hpp).
// Invariant: objects that are kept until freed are marked like roots before the first question. A pointer stands for
//    the object that it points into, anywhere.
// Must not know: finalizers, links.
#pragma once

#include "collector/marker.hpp"
#include "collector/marking.hpp"

namespace gr {

class Reachability {
  public:
    Reachability(const Field &field, Marker &marker) : field_(field), marker_(marker) {}

    bool is_marked(const void *p) const {
        if (marker_.sees_unmarked(reinterpret_cast<std::uintptr_t>(p))) return false;
        const Target t = used_at(p);
        return t.begin != nullptr && marker_.is_marked(t);
    }
    const void *base_of(const void *p) const { return used_at(p).begin; }
    bool is_lost(const void *p) const { return field_.may_point(reinterpret_cast<std::uintptr_t>(p)) && !is_marked(p); }
    platform::Range contents_of(const void *p) const {
        const Target t = used_at(p);
        if (t.begin == nullptr) return {};
        const Descriptor d = field_.descriptor_of(t);
        if (d.form() == Descriptor::Form::length) return {t.begin, t.begin + d.length()};
        return {t.begin, t.begin + t.bytes};
    }
    void mark(const void *p) {
        marker_.consider_inside(reinterpret_cast<std::uintptr_t>(p));
        marker_.drain();
    }
    template <class Name>
    void mark_each(Name name) {
        unsigned named = 0;
        name([&](const void *p) {
            marker_.consider_inside(reinterpret_cast<std::uintptr_t>(p));
            if (++named % kTogether == 0) marker_.drain();
        });
        marker_.drain();
    }
    void mark_from(const void *p) {
        const Target t = used_at(p);
        if (t.begin == nullptr) return;
        marker_.scan(Task{t.begin, field_.descriptor_of(t)});
        marker_.drain();
    }
    void mark_range(platform::Range range) {
        marker_.scan(range);
        marker_.drain();
    }
    void observe(MarkObserver observer) { marker_.observe(observer); }
    bool failed() const { return marker_.failed(); }

  private:
    static constexpr unsigned kTogether = 128;  // objects that are marked before what they reach is

    Target used_at(const void *p) const { return field_.target(reinterpret_cast<std::uintptr_t>(p)); }

    const Field &field_;
    Marker &marker_;
};
static_assert(ObservableMarking<Reachability>, "finalization asks this class what is marked");

}  // namespace gr
