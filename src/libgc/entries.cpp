// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/entries.hpp"

#include "libgc/standard_kinds.hpp"
#include "libgc/statistics.hpp"

namespace gr {

extern "C" {
constinit EntryState gr_gc_entry_state;
}

// A thread that sees the limit or the base sees the rest: the client has no second one that allocates before the first has
// initialised the library.
void publish_entries() {
    std::uint64_t *const words = freed.words();
    if (words == nullptr) return;
    const Kinds &kinds = collector.kinds();
    EntryState &state = gr_gc_entry_state;
    state.found = kinds.found();
    state.freed = words;
    state.slot_shift = kinds.slot_shift();
    std::atomic_thread_fence(std::memory_order_release);
    state.base = reinterpret_cast<std::uintptr_t>(kinds.base());
    state.fine_limit = kFineLimit;
    state.size_limit = kClassLimit;
}

}  // namespace gr
