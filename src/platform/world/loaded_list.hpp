// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the loader's own list of what is loaded, as debuggers read it (link.h, r_debug), and whether it has changed.
// Invariant: nothing here waits for a lock of the loader's. The list is read while its lock is held, or while all
//    threads that could change it stand.
// Must not know: what a library has; why threads stand.
#pragma once

#include <link.h>

#include "platform/world/mapped_list.hpp"

namespace gr::platform {

class LoadedList {
  public:
    constexpr LoadedList() = default;

    // With the list's lock held. `program` is the first entry of the list. false: no memory, or the program does not say
    // where the list is, as a static one or one of another namespace; then the list counts as changed.
    bool remember(const dl_phdr_info &program);
    void forget() { entries_.clear(); }
    // While all threads stand. false: another library is there or one is missing, or one was coming or going.
    bool is_as_remembered() const;

  private:
    // A library that took the place of another differs in its name or in its layout.
    struct Entry {
        const link_map *map;
        std::uintptr_t address;
        const void *dynamic;
        std::uint64_t name;  // a hash of it

        bool operator==(const Entry &) const = default;
    };
    static Entry entry_of(const link_map &map);

    const r_debug *list_ = nullptr;  // nullptr: unknown
    MappedList<Entry> entries_;
};

}  // namespace gr::platform
