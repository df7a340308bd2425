// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the program and its libraries as they are loaded: where their variables lie, and their thread-local ones.
// Invariant: what was learnt is of one moment, in which no library was being loaded or unloaded.
// Must not know: who asks, and why.
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
    // Whether variables of the file, empty for the program's own, are to be told. The world may stand.
    using Wants = bool (*)(const char *file, Range variables);

    constexpr Modules() = default;

    void set_wants(Wants wants) { wants_ = wants; }

    // Calls at_rest(context) first, while nobody can load or unload a library; whoever stops all threads does it there.
    // false: no memory, and nothing is told; at_rest was called all the same.
    bool learn(void (*at_rest)(void *context), void *context);

    // What may be written, but what is only written while a library is loaded.
    std::span<const Range> variables() const { return variables_.all(); }
    // The rest: what the loader has protected since.
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
