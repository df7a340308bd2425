// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: starts and ends the face with the process, and tells it of libraries that are unloaded.
// Invariant: the face begins after malloc, so that fork takes the collector's lock before the locks of the heap.
// Must not know: what the face does.
#include <cerrno>

#include "gcmalloc/face.hpp"
#include "gcmalloc/loaded_modules.hpp"
#include "malloc/c_api.hpp"
#include "platform/loader.hpp"

namespace {

[[gnu::constructor(102)]] void begin() { gr::face.begin(); }

[[gnu::destructor(102)]] void end() { gr::face.end(); }

}  // namespace

extern "C" GR_EXPORT int dlclose(void *library) {
    const auto libcs = reinterpret_cast<int (*)(void *)>(gr::platform::next_symbol("dlclose"));
    gr::LoadedModules before;
    gr::face.list_code(&before);
    const int result = libcs == nullptr ? -1 : libcs(library);
    gr::face.forget_code(before);
    return result;
}
