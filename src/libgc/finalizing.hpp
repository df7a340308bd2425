// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which thread calls libgc's finalizers, and when.
// Invariant: a finalizer is called without the lock. In one thread, no finalizer is called inside another one.
// Must not know: how finalizers are queued.
#pragma once

#include <cstddef>

namespace gr {

// Called with the lock held, before a collection stops the threads.
void prepare_finalization();
void ask_toggle_references();
// Called with the lock held, after a collection: tells the client of the finalizers that were queued.
void tell_of_queued();

// Called without the lock: calls the queued finalizers, or notifies the client that calls them.
void after_collection();
std::size_t invoke_finalizers();
std::size_t queued_finalizers();

}  // namespace gr
