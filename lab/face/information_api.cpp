// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: glibc's introspection of malloc, as far as an allocator of the lab can answer.
// Invariant: what is told is true. Blocks are not counted: a counter in each call would stand in every ratio for
//    which the lab is there, so mallinfo tells what is held of the kernel, and none of its fields for what is in use.
// Must not know: which allocator.
#include <malloc.h>
#include <stdio.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/text.hpp"
#include "granary/granary.h"
#include "parts/memory/wilderness.hpp"
#include "platform/process.hpp"

using gr::lab::Held;

extern "C" {

GR_EXPORT struct mallinfo2 mallinfo2() {
    struct mallinfo2 told {};
    told.arena = Held::bytes();
    return told;
}
GR_EXPORT struct mallinfo mallinfo() {
    struct mallinfo told {};
    told.arena = static_cast<int>(std::min<std::size_t>(Held::bytes(), INT_MAX));
    return told;
}

GR_EXPORT int malloc_info(int options, FILE *file) {
    if (options != 0) {
        errno = EINVAL;
        return -1;
    }
    fprintf(file, "<malloc version=\"granary-lab-1\">\n<system held=\"%zu\"/>\n</malloc>\n", Held::bytes());
    return 0;
}

GR_EXPORT void malloc_stats() {
    gr::TextBuffer<160> line;
    line << "granary: lab: " << Held::bytes() << " bytes obtained from the kernel; blocks are not counted\n";
    gr::platform::write_all(2, line.data(), line.size());
}

// What an allocator of the lab gives back it gives back by itself.
GR_EXPORT int malloc_trim(std::size_t) { return 0; }

// Accepted and without effect: nothing that glibc tunes exists here.
GR_EXPORT int mallopt(int, int) { return 1; }

}  // extern "C"
