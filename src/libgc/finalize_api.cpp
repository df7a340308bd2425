// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's functions that register finalizers and call them.
// Invariant: a client gets back what it registered, whether or not the object has a debug header. The functions have no
//    effect while leaks are searched.
// Must not know: when an object is found dead.
#include "libgc/allocation.hpp"
#include "libgc/callbacks.hpp"
#include "libgc/debug_header.hpp"
#include "libgc/finalizing.hpp"
#include "libgc/locked.hpp"

namespace {

using gr::collector;
using gr::FinalizationOrder;
using gr::Finalizer;
using gr::Locked;

struct Old {
    GC_finalization_proc *procedure;
    void **client_data;

    void set(const Finalizer &old) const {
        if (procedure != nullptr) *procedure = old.procedure;
        if (client_data != nullptr) *client_data = old.client_data;
    }
};

// Stores what was registered before, unless there is no memory. The pointers of Lisps contain tags, which the finalizer
// gets back.
void register_finalizer(void *object, const Finalizer &finalizer, Old old) {
    gr::ensure_initialised();
    if (gr::now(GC_find_leak) != 0) return;
    if (collector.block_at(object).begin == nullptr) return old.set({});
    const Locked locked;
    if (const auto before = collector.finalization().finalizers.set(object, finalizer)) old.set(*before);
}

// The client's finalizer of an object that the client knows by the address behind the header.
struct DebugFinalizer {
    GC_finalization_proc procedure;
    void *client_data;
};

void call_for_debug(void *object, void *client_data) {
    const auto *const client = static_cast<const DebugFinalizer *>(client_data);
    client->procedure(gr::DebugHeader::user_data(object), client->client_data);
}

void register_debug(void *user_data, Finalizer finalizer, Old old) {
    gr::ensure_initialised();
    void *const object = collector.block_at(user_data).begin;
    if (object == nullptr) return old.set({});
    if (finalizer.procedure != nullptr) {
        auto *const client = static_cast<DebugFinalizer *>(gr::allocate(gr::kNormal, sizeof(DebugFinalizer)));
        if (client == nullptr) return;
        *client = {finalizer.procedure, finalizer.client_data};
        finalizer.procedure = call_for_debug;
        finalizer.client_data = client;
    }
    Finalizer before;
    register_finalizer(object, finalizer, {&before.procedure, &before.client_data});
    if (before.procedure == call_for_debug) {
        const auto client = *static_cast<const DebugFinalizer *>(before.client_data);
        before = {client.procedure, client.client_data, {}};
    }
    old.set(before);
}

}  // namespace

using F = GC_finalization_proc;

extern "C" {

GR_EXPORT void GC_register_finalizer(void *object, F f, void *data, F *old, void **old_data) {
    register_finalizer(object, {f, data, FinalizationOrder::normal}, {old, old_data});
}
GR_EXPORT void GC_register_finalizer_ignore_self(void *object, F f, void *data, F *old, void **old_data) {
    register_finalizer(object, {f, data, FinalizationOrder::ignore_self}, {old, old_data});
}
GR_EXPORT void GC_register_finalizer_no_order(void *object, F f, void *data, F *old, void **old_data) {
    register_finalizer(object, {f, data, FinalizationOrder::none}, {old, old_data});
}
GR_EXPORT void GC_register_finalizer_unreachable(void *object, F f, void *data, F *old, void **old_data) {
    register_finalizer(object, {f, data, FinalizationOrder::unreachable}, {old, old_data});
}
GR_EXPORT void GC_debug_register_finalizer(void *object, F f, void *data, F *old, void **old_data) {
    register_debug(object, {f, data, FinalizationOrder::normal}, {old, old_data});
}
GR_EXPORT void GC_debug_register_finalizer_ignore_self(void *object, F f, void *data, F *old, void **old_data) {
    register_debug(object, {f, data, FinalizationOrder::ignore_self}, {old, old_data});
}
GR_EXPORT void GC_debug_register_finalizer_no_order(void *object, F f, void *data, F *old, void **old_data) {
    register_debug(object, {f, data, FinalizationOrder::none}, {old, old_data});
}
GR_EXPORT void GC_debug_register_finalizer_unreachable(void *object, F f, void *data, F *old, void **old_data) {
    register_debug(object, {f, data, FinalizationOrder::unreachable}, {old, old_data});
}

GR_EXPORT int GC_invoke_finalizers() { return static_cast<int>(gr::invoke_finalizers()); }
GR_EXPORT int GC_should_invoke_finalizers() { return gr::queued_finalizers() != 0 ? 1 : 0; }

// Also calls finalizers that a finalizer registers.
GR_EXPORT void GC_finalize_all() {
    gr::ensure_initialised();
    for (;;) {
        collector.lock();
        const std::size_t queued = collector.finalization().finalizers.queue_all();
        collector.unlock();
        if (gr::invoke_finalizers() == 0 && queued == 0) return;
    }
}

GR_EXPORT void GC_set_finalize_on_demand(int on) { gr::store(GC_finalize_on_demand, on); }
GR_EXPORT int GC_get_finalize_on_demand() { return gr::now(GC_finalize_on_demand); }
GR_EXPORT void GC_set_java_finalization(int on) { gr::store(GC_java_finalization, on); }
GR_EXPORT int GC_get_java_finalization() { return gr::now(GC_java_finalization); }
GR_EXPORT void GC_set_finalizer_notifier(GC_finalizer_notifier_proc notify) {
    gr::set_locked(GC_finalizer_notifier, notify);
}
GR_EXPORT GC_finalizer_notifier_proc GC_get_finalizer_notifier() { return gr::get_locked(GC_finalizer_notifier); }

}  // extern "C"
