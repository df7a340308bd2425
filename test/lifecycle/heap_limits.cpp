// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: first-class heaps where address space is scarce: under RLIMIT_AS, and when all of it is used up.
// Invariant: no memory is NULL and ENOMEM, from making a heap as from its functions; what was there stays usable, and
//    what is destroyed makes room.
// Must not know: how large a reservation is.
#include "black_box.hpp"

#include <sys/resource.h>
#include <cerrno>
#include <vector>

namespace {

using gr::black_box::opaque;

constexpr rlim_t kLimit = rlim_t{2} << 30;
constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kHeapsAtLeast = 10;

void fill_up(gr_heap *heap) {
    for (;;) {
        errno = 0;
        void *block = gr_heap_malloc(heap, kBlock);
        if (block == nullptr) break;
        std::memset(block, 1, 100);
    }
    GR_REQUIRE(errno == ENOMEM);
    errno = 0;
    GR_REQUIRE(opaque(gr_heap_calloc(heap, kBlock, 2)) == nullptr && errno == ENOMEM);
}

// The limit is to be there from the start, as a shell's is.
void start_again_under_the_limit(char **argv) {
    rlimit limit{};
    GR_REQUIRE(getrlimit(RLIMIT_AS, &limit) == 0);
    if (limit.rlim_cur == kLimit) return;
    limit.rlim_cur = kLimit;
    GR_REQUIRE(setrlimit(RLIMIT_AS, &limit) == 0);
    execv("/proc/self/exe", argv);
    gr::black_box::leave(1, "execv: %s\n", std::strerror(errno));
}

}  // namespace

int main(int, char **argv) {
    gr::black_box::require_granary();
    if (!gr::black_box::granary_in_use()) return gr::black_box::kSkipped;
    start_again_under_the_limit(argv);
    std::vector<gr_heap *> heaps;
    heaps.reserve(kLimit / kBlock);

    // The first one does not take everything.
    for (;;) {
        errno = 0;
        gr_heap *heap = gr_heap_new(0);
        if (heap == nullptr) break;
        heaps.push_back(heap);
    }
    GR_REQUIRE(errno == ENOMEM);
    GR_REQUIRE(heaps.size() >= kHeapsAtLeast);
    char *block = static_cast<char *>(gr_heap_malloc(heaps.back(), 100));
    GR_REQUIRE(block != nullptr);
    block[99] = 1;
    fill_up(heaps.back());
    gr_heap_free(heaps.back(), block);
    GR_REQUIRE(opaque(gr_heap_malloc(heaps.back(), 100)) != nullptr);

    gr_heap_destroy(heaps.front());
    heaps.front() = gr_heap_new(0);
    GR_REQUIRE(heaps.front() != nullptr);
    gr::black_box::require_sound_heap();
    for (gr_heap *heap : heaps) gr_heap_destroy(heap);
    GR_REQUIRE(opaque(std::malloc(100 * kBlock)) != nullptr);
    gr::black_box::require_sound_heap();
    return 0;
}
