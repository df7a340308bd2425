// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program that allocates while the loader still relocates it.
// Invariant: ends with 0 if that worked, and what it got then can be freed later.
// Must not know: what records it.
#include <cstdlib>
#include <cstring>

namespace {

void *early = nullptr;

}  // namespace

extern "C" {

int resolved_value() { return 7; }

[[gnu::used]] int (*resolve_early())() {
    void *volatile p = calloc(3, 33);
    p = realloc(p, 200);
    free(p);
    early = malloc(77);
    return &resolved_value;
}

[[gnu::ifunc("resolve_early")]] int resolved_early();

}  // extern "C"

int main() {
    if (resolved_early() != 7 || early == nullptr) return 1;
    std::memset(early, 1, 77);
    early = realloc(early, 2000);
    if (early == nullptr || static_cast<char *>(early)[76] != 1) return 2;
    free(early);
    return 0;
}
