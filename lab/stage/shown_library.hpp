// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a shown library, loaded beside the stage's own malloc: its malloc family and what else the stage calls.
// Invariant: nothing but the stage calls it: the stage itself and libc have another malloc.
// Must not know: scripts.
#pragma once

#include <cstddef>
#include <string>
#include <variant>

#include "show/stage_functions.hpp"

namespace gr::lab::stage {

struct ShownLibrary {
    void *(*allocate)(std::size_t);
    void *(*allocate_zeroed)(std::size_t, std::size_t);
    void *(*reallocate)(void *, std::size_t);
    void (*release)(void *);
    const show::StageFunctions *show;

    // Or why it cannot be used.
    static std::variant<ShownLibrary, std::string> load(const char *path);
};

}  // namespace gr::lab::stage
