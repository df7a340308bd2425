// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the files of code that were unloaded after blocks had been allocated by them, so that the stacks of these blocks
//    can still be named.
// Invariant: a stack that a file's code took part in has an ordinal of at most the file's last, and a later stack at the
//    same addresses has a higher one.
// Must not know: what the stacks were taken for.
#pragma once

#include <atomic>
#include <cstdint>

#include "gcmalloc/loaded_modules.hpp"
#include "profile/stacks.hpp"

namespace gr {

class UnloadedModules {
  public:
    struct Unloaded {
        LoadedModule module;
        std::atomic<std::uint32_t> last{0};  // ordinal of the last stack that was taken before it was unloaded
        Unloaded *before = nullptr;          // the file that was unloaded before this one
    };

    constexpr UnloadedModules() = default;

    // Called after libc's dlclose, with what was loaded before it.
    void note(const LoadedModules &before, Stacks *stacks);
    // The one that was unloaded last comes first.
    const Unloaded *newest() const { return newest_.load(std::memory_order_acquire); }

    // Held around fork.
    void lock() { mutex_.lock_always(kRank); }
    void unlock() { mutex_.unlock(kRank); }

  private:
    static constexpr platform::Rank kRank = platform::Rank::unloaded_modules;

    void keep(const LoadedModule &module, std::uint32_t last);

    // Release: pairs with the acquire of newest(), so that the description is complete.
    std::atomic<Unloaded *> newest_{nullptr};
    platform::Mutex mutex_;  // guards the list's growth
};

}  // namespace gr
