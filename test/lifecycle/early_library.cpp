// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a library that allocates as early as a library can: in an IFUNC resolver and in its first constructor.
// Invariant: early_failures() counts what went wrong; the blocks are kept for the program to look at.
// Must not know: which malloc it gets.
#include <cstdlib>
#include <cstring>

namespace {

constexpr std::size_t kSizes[] = {1, 24, 1000, 20000, 300000};

int failures = 0;
void *kept[2];

void allocate(int place) {
    for (std::size_t size : kSizes) {
        unsigned char *block = static_cast<unsigned char *>(std::calloc(1, size));
        if (block == nullptr || block[size - 1] != 0) {
            ++failures;
            continue;
        }
        std::memset(block, 0x42, size);
        std::free(kept[place]);
        kept[place] = block;
    }
}

int resolved_answer() { return 42; }

}  // namespace

// Runs while the loader relocates the object that uses early_answer, before any constructor (bound lazily: at the first
// call).
extern "C" int (*resolve_early_answer())() {
    allocate(0);
    return resolved_answer;
}

extern "C" int early_answer() __attribute__((ifunc("resolve_early_answer")));

__attribute__((constructor(101))) static void construct_early() { allocate(1); }

extern "C" int early_failures() { return failures; }

extern "C" void *early_block(int place) { return kept[place]; }
