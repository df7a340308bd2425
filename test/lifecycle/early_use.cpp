// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a program whose library allocates in an IFUNC resolver and in a priority-101 constructor.
// Invariant: those blocks are ordinary blocks of the heap that the program uses later.
// Must not know: in which order the loader relocates.
#include "black_box.hpp"

#include <malloc.h>

extern "C" int early_answer();
extern "C" int early_failures();
extern "C" void *early_block(int place);

int main() {
    gr::black_box::require_granary();
    GR_REQUIRE(early_answer() == 42);
    GR_REQUIRE(early_failures() == 0);
    for (int place = 0; place < 2; ++place) {
        unsigned char *block = static_cast<unsigned char *>(early_block(place));
        GR_REQUIRE(block != nullptr);
        if (gr::black_box::granary_in_use()) {
            GR_REQUIRE(gr_owns(block) == 1);
        }
        GR_REQUIRE(malloc_usable_size(block) >= 300000 && block[0] == 0x42 && block[299999] == 0x42);
        std::free(block);
    }
    gr::black_box::require_sound_heap();
    return 0;
}
