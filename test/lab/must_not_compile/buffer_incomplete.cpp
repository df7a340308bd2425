// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a free-list buffer takes and gives blocks (parts/stores/free_list_buffer.hpp).
// Invariant: only the line under #else is at fault.
// Must not know: anything but the header it includes.
// Expects: static assertion failed|static_assert failed
#include "parts/stores/free_list_buffer.hpp"
#include "parts/stores/free_list_store.hpp"

using namespace gr::lab;

#ifdef CONTROL
using Store = FreeListStore<TaggedObjects<true>, thread_heaps + ownership>;
static_assert(FreeListBufferLike<FreeListBuffer<Store>>);
#else
static_assert(FreeListBufferLike<NoBuffer>);
#endif
