// SPDX-License-Identifier: Apache-2.0 OR MIT
//
// What:      a process that allocates from libgranary and from libgranary-prefixed, says its number, and waits for the end
//            of its standard input; for statistics_file.py.
// Invariant: it ends by a return from main.
// Must not know: what is written about it meanwhile.
#include "black_box.hpp"

using namespace gr::black_box;

namespace {

// As many slow paths of each library as it wants to see before it starts a thread.
constexpr std::size_t kBlocks = 2000;
void *blocks[kBlocks];
void *prefixed_blocks[kBlocks];

}  // namespace

int main() {
    for (std::size_t i = 0; i < kBlocks; ++i) {
        blocks[i] = opaque(std::malloc(16 * (i + 1)));
        prefixed_blocks[i] = opaque(gr_malloc(16 * (i + 1)));
    }
    say(STDOUT_FILENO, "%d\n", getpid());
    char byte;
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    return 0;
}
