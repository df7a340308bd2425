// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where the variables and the thread-local variables of the program and its loaded libraries lie.
// Invariant: all facts are of one moment, in which no library was being loaded or unloaded, and hold as long as the
//    loader's list is what it was at that moment.
// Must not know: why the caller asks.
#pragma once

#include "platform/world/loaded_list.hpp"
#include "platform/world/loader_locks.hpp"
#include "platform/world/mapped_list.hpp"
#include "platform/world/range.hpp"

namespace gr::platform {

struct TlsModule {
    std::size_t number = 0;
    std::size_t bytes = 0;
};

class Modules {
  public:
    // Whether to list these variables of the file, whose name is empty for the program itself. All other threads may be
    // stopped.
    using Wants = bool (*)(const char *file, Range variables);

    constexpr Modules() = default;

    // Called once. Lists the libraries.
    void initialise();
    const LoaderLocks &locks() const { return locks_; }
    void set_wants(Wants wants) {
        wants_ = wants;
        list_.forget();
    }

    // Calls at_rest(context) once and first, while no thread can load or unload a library. A caller that stops all
    // threads does so there, and says whether they stand. The loader's lock is not waited for in vain: its holder may
    // wait for the caller. If the holder does not release it soon, all is as it was learned before, if the loader's
    // list still is as it was then. false: at_rest said so; or there is no memory; or the list has changed.
    bool learn(bool (*at_rest)(void *context), void *context);

    // Writable memory, without what is only written while a library is being loaded.
    std::span<const Range> variables() const { return variables_.all(); }
    // Memory that was only written then, and that the loader has protected since.
    std::span<const Range> constants() const { return constants_.all(); }
    std::span<const TlsModule> thread_locals() const { return thread_locals_.all(); }

  private:
    struct Visit;

    bool list(Visit *visit);

    LoaderLocks locks_;
    LoadedList list_;        // of which the rest was learned; forgotten if that is not complete
    Wants wants_ = nullptr;  // nullptr: all
    MappedList<Range> variables_;
    MappedList<Range> constants_;
    MappedList<TlsModule> thread_locals_;
};

}  // namespace gr::platform
