// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program whose library allocates while the loader relocates it.
// Invariant: ends with 0 if that worked, and what it got then can be resized and freed.
// Must not know: what records it.
#include <cstdlib>
#include <cstring>

extern "C" {
extern int (*early_function)();
void *take_early_block();
}

int main() {
    void *early = take_early_block();
    if (early_function() != 7 || early == nullptr) return 1;
    std::memset(early, 1, 77);
    early = realloc(early, 2000);
    if (early == nullptr || static_cast<char *>(early)[76] != 1) return 2;
    free(early);
    return 0;
}
