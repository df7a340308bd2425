// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "gcmalloc/unloaded_modules.hpp"

#include <new>

#include "platform/memory.hpp"

namespace gr {

// A stack that another thread takes by a library that it has loaded meanwhile at this place counts as one of the old
// library: nothing tells them apart.
void UnloadedModules::note(const LoadedModules &before, Stacks *stacks) {
    if (before.all().empty() || LoadedModules::unloads_now() == before.unloads()) return;
    for (const LoadedModule &module : before.all()) {
        if (module.begin == module.end || LoadedModules::is_loaded(module)) continue;
        const std::uint32_t last = stacks->retire(module.begin, module.end);
        if (last != 0) keep(module, last);
    }
}

// A library that is loaded and unloaded in turn at one place is kept once.
void UnloadedModules::keep(const LoadedModule &module, std::uint32_t last) {
    const platform::Guard guard(mutex_, kRank);
    if (!guard.locked()) return;
    Unloaded *const newest = newest_.load(std::memory_order_relaxed);
    for (Unloaded *known = newest; known != nullptr; known = known->before) {
        if (!known->module.overlaps(module)) continue;
        if (!known->module.is(module)) break;
        known->last.store(last, std::memory_order_relaxed);
        return;
    }
    void *const place = platform::map(sizeof(Unloaded), 1);
    if (place == nullptr) return;
    auto *const kept = new (place) Unloaded;
    kept->module = module;
    kept->last.store(last, std::memory_order_relaxed);
    kept->before = newest;
    newest_.store(kept, std::memory_order_release);
}

}  // namespace gr
