// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the words by which the loaded modules reach functions of other modules: the global offset tables, and pointers
//    to functions in initialised data. The words are found by the names of the functions and changed in place.
// Invariant: each word changes at once. It changes only if it leads to the function that the caller names, or if the
//    loader has not filled it yet. No module is unloaded meanwhile: the loader's list is locked.
// Must not know: which functions, and why they are changed.
#pragma once

#include <cstddef>
#include <span>

#include "platform/ipc/loaded_object.hpp"

namespace gr::platform {

// The modules that may define a name, in the loader's order. A module that is left out defines nothing.
struct Definition {
    void *function = nullptr;  // nullptr: nobody defines the name, or only the loader can tell which function serves it
    void *stand_in = nullptr;  // the place in a program at a fixed address whose address stands for the function's
};
Definition definition_of(const char *name, const LoadedObject &left_out);
// The function of this name that this module defines; nullptr: none.
void *definition_in(const LoadedObject &module, const char *name);

struct Rebinding {
    const char *name = nullptr;
    void *from = nullptr;  // nullptr: words of a weak name that nobody defines
    void *stand_in = nullptr;
    void *to = nullptr;
    // Also words that the loader fills when they are first used.
    bool also_unfilled = false;
    // Words in this module stay as they are.
    const LoadedObject *left_alone = nullptr;
};

// Changes the words of all modules but this library's own. Before it changes anything, it asks whether that is still
// wanted: then the loader's list is locked already.
void rebind(std::span<const Rebinding> rebindings, const LoadedObject &own, bool (*is_wanted)());

}  // namespace gr::platform
