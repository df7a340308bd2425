// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the face's part in the process's life, and of what it must know of the loader's.
// Invariant: it begins after malloc's own part did, so that fork takes the collector's lock before those of the heap.
// Must not know: what begins.
#include <cerrno>

#include "gcmalloc/face.hpp"
#include "malloc/c_api.hpp"
#include "platform/loader.hpp"

namespace {

[[gnu::constructor(102)]] void begin() { gr::face.begin(); }

[[gnu::destructor(102)]] void end() { gr::face.end(); }

}  // namespace

extern "C" GR_EXPORT int dlclose(void *library) {
    const auto libcs = reinterpret_cast<int (*)(void *)>(gr::platform::next_symbol("dlclose"));
    const int result = libcs == nullptr ? -1 : libcs(library);
    gr::face.forget_code();
    return result;
}
