// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's disappearing links, short and long, and its toggle references.
// Invariant: a link is the aligned address of a word. No link is registered while leaks are searched.
// Must not know: when links are cleared.
#include "libgc/allocation.hpp"
#include "libgc/callbacks.hpp"
#include "libgc/locked.hpp"
#include "libgc/messages.hpp"

namespace {

using gr::collector;
using gr::Links;
using gr::Locked;

constexpr int kSuccess = 0;
constexpr int kNoMemory = 2;
constexpr int kUnimplemented = 3;

void check(void *const *link, const char *complaint) {
    if (link == nullptr || reinterpret_cast<std::uintptr_t>(link) % alignof(void *) != 0) gr::die(complaint);
}

int register_link(Links gr::Finalization::*links, void **link, const void *object) {
    gr::ensure_initialised();
    check(link, "a disappearing link is NULL or not aligned");
    if (gr::now(GC_find_leak) != 0) return kUnimplemented;
    const Locked locked;
    return static_cast<int>((collector.finalization().*links).add(link, object));
}

int move_link(Links gr::Finalization::*links, void **link, void **to) {
    check(to, "the new place of a disappearing link is NULL or not aligned");
    if (reinterpret_cast<std::uintptr_t>(link) % alignof(void *) != 0)
        return static_cast<int>(gr::LinkResult::not_found);
    const Locked locked;
    return static_cast<int>((collector.finalization().*links).move(link, to));
}

int unregister_link(Links gr::Finalization::*links, void **link) {
    const Locked locked;
    return (collector.finalization().*links).remove(link) ? 1 : 0;
}

constexpr auto kShort = &gr::Finalization::short_links;
constexpr auto kLong = &gr::Finalization::long_links;

}  // namespace

extern "C" {

GR_EXPORT int GC_general_register_disappearing_link(void **link, const void *object) {
    return register_link(kShort, link, object);
}
GR_EXPORT int GC_register_disappearing_link(void **link) {
    const void *const object = collector.block_at(link).begin;
    if (object == nullptr) gr::die("GC_register_disappearing_link: the link is not in an object");
    return register_link(kShort, link, object);
}
GR_EXPORT int GC_move_disappearing_link(void **link, void **to) { return move_link(kShort, link, to); }
GR_EXPORT int GC_unregister_disappearing_link(void **link) { return unregister_link(kShort, link); }

GR_EXPORT int GC_register_long_link(void **link, const void *object) { return register_link(kLong, link, object); }
GR_EXPORT int GC_move_long_link(void **link, void **to) { return move_link(kLong, link, to); }
GR_EXPORT int GC_unregister_long_link(void **link) { return unregister_link(kLong, link); }

GR_EXPORT int GC_toggleref_add(void *object, int strong) {
    const Locked locked;
    if (gr::callbacks.toggle == nullptr) return kSuccess;
    const auto status = strong != 0 ? gr::ToggleStatus::strong : gr::ToggleStatus::weak;
    return collector.finalization().toggles.add(object, status) ? kSuccess : kNoMemory;
}

}  // extern "C"
