// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: libgc's disclaim procedures, and the objects that the library itself finalizes by such a procedure.
// Invariant: the first word of such an object is the address of its closure with the lowest bit set; the client's part
//    follows. A free block has no such word.
// Must not know: when objects are found dead.
#include "libgc/allocation.hpp"
#include "libgc/client_kinds.hpp"
#include "libgc/disclaim.hpp"
#include "libgc/displacements.hpp"
#include "libgc/locked.hpp"

extern "C" {

struct GC_finalizer_closure {
    GC_finalization_proc proc;
    void *cd;
};

}  // extern "C"

namespace {

constexpr std::size_t kHidden = sizeof(std::uintptr_t);
constinit unsigned finalized_kind = 0;  // 0: not made yet

int finalize(void *object) {
    auto *const word = static_cast<std::uintptr_t *>(object);
    if ((*word & 1) == 0) return 0;
    const auto *const closure = reinterpret_cast<const GC_finalizer_closure *>(*word & ~std::uintptr_t{1});
    *word = 0;
    closure->proc(word + 1, closure->cd);
    return 0;
}

}  // namespace

extern "C" {

GR_EXPORT void GC_register_disclaim_proc(int kind, int (*disclaim)(void *), int mark_from_all) {
    gr::ensure_initialised();
    const gr::Locked locked;
    if (gr::now(GC_find_leak) == 0) gr::set_disclaim(static_cast<unsigned>(kind), disclaim, mark_from_all != 0);
}

GR_EXPORT void GC_init_finalized_malloc() {
    gr::ensure_initialised();
    const gr::Locked locked;
    if (finalized_kind != 0) return;
    gr::register_displacement(kHidden);
    gr::register_displacement(1);  // the word points one byte into the closure
    finalized_kind = gr::make_client_kind({.descriptor = {}, .adds_size = true});
    GC_register_disclaim_proc(static_cast<int>(finalized_kind), finalize, 1);
}

GR_EXPORT void *GC_finalized_malloc(std::size_t size, const GC_finalizer_closure *closure) {
    if (finalized_kind == 0) GC_init_finalized_malloc();
    if (size > PTRDIFF_MAX) return gr::now(GC_oom_fn)(size);
    gr::Kind &kind = gr::kind_of_number(finalized_kind);
    const std::size_t more = gr::has_more() ? 1 : 0;
    void *const p = gr::collector.allocate(kind, size + kHidden + more, more);
    if (p == nullptr) return gr::now(GC_oom_fn)(size);
    auto *const word = static_cast<std::uintptr_t *>(p);
    *word = reinterpret_cast<std::uintptr_t>(closure) | 1;
    return word + 1;
}

}  // extern "C"
