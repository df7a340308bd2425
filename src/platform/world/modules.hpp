// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: where the variables and the thread-local variables of the program and its loaded libraries lie.
// Invariant: all facts are of one moment, in which no library was being loaded or unloaded.
// Must not know: why the caller asks.
#pragma once

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

    void set_wants(Wants wants) { wants_ = wants; }

    // Calls at_rest(context) first, while no thread can load or unload a library. A caller that stops all threads does
    // so there. false: there is no memory, and the lists are not complete; at_rest was called in this case, too.
    bool learn(void (*at_rest)(void *context), void *context);

    // Writable memory, without what is only written while a library is being loaded.
    std::span<const Range> variables() const { return variables_.all(); }
    // Memory that was only written then, and that the loader has protected since.
    std::span<const Range> constants() const { return constants_.all(); }
    std::span<const TlsModule> thread_locals() const { return thread_locals_.all(); }

  private:
    struct Visit;

    Wants wants_ = nullptr;  // nullptr: all
    MappedList<Range> variables_;
    MappedList<Range> constants_;
    MappedList<TlsModule> thread_locals_;
};

}  // namespace gr::platform
