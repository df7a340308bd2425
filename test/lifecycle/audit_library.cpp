// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: an auditing library (rtld-audit(7)) that allocates for every object the loader opens.
// Invariant: it lives in a namespace of its own, with a libc of its own.
// Must not know: the program that it audits.
#include <link.h>

#include <cstdlib>
#include <cstring>

namespace {

void *kept = nullptr;

void allocate() {
    std::free(kept);
    kept = std::malloc(5000);
    if (kept == nullptr) std::abort();
    std::memset(kept, 1, 5000);
}

}  // namespace

extern "C" [[gnu::visibility("default")]] unsigned la_version(unsigned) {
    allocate();
    return LAV_CURRENT;
}

extern "C" [[gnu::visibility("default")]] unsigned la_objopen(struct link_map *, Lmid_t, uintptr_t *) {
    allocate();
    return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}
