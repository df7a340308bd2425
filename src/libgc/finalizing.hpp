// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what libgc does with finalizers beside keeping them: who calls them, and when.
// Invariant: a finalizer is called without the lock; in one thread not inside another one.
// Must not know: how they are queued.
#pragma once

#include <cstddef>

namespace gr {

// With the lock, before a collection stops anybody.
void prepare_finalization();
void ask_toggle_references();
// With the lock, after it: of what it queued.
void tell_of_queued();

// Without the lock: calls what is queued, or tells who does.
void after_collection();
std::size_t invoke_finalizers();
std::size_t queued_finalizers();

}  // namespace gr
