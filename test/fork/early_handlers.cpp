// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a shared library whose constructor registers fork handlers that allocate, before any preloaded library's
//    constructor ran: its prepare handler is thus called after the allocator's own.
// Invariant: what prepare allocates, parent and child free.
// Must not know: the allocator.

#include <pthread.h>
#include <unistd.h>
#include <array>
#include <cstdlib>

namespace {

constexpr std::array<size_t, 6> kHandlerSizes = {24, 400, 5000, 32768, 100000, 1000000};
std::array<void *, kHandlerSizes.size()> blocks;

void allocate() {
    for (size_t number = 0; number < blocks.size(); ++number) {
        blocks[number] = std::malloc(kHandlerSizes[number]);
        if (blocks[number] == nullptr) _exit(3);
        *static_cast<char *>(blocks[number]) = 1;
    }
}

void release() {
    for (void *block : blocks) std::free(block);
}

int error = -1;

[[gnu::constructor(101)]] void register_handlers() { error = pthread_atfork(allocate, release, release); }

}  // namespace

// 0 when the handlers are in place. The program calls it, which also makes the linker keep this library.
extern "C" [[gnu::visibility("default")]] int early_handlers_error() { return error; }
