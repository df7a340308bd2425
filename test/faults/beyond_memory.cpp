// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: asks for twice the memory that the machine has, in each way of asking.
// Invariant: where the kernel checks what a process may have, each is refused with NULL and ENOMEM, a block that was to grow
//    stays as it was, and the process goes on.
// Must not know: how the library asks the kernel.
#include <sys/sysinfo.h>

#include <fstream>

#include "require.hpp"

using namespace gr::test;

namespace {

constexpr int kAlwaysGranted = 1;  // of vm.overcommit_memory

void require_refused(const char *function, size_t size, void *block) {
    if (block != nullptr) fail("%s of %zu bytes was granted; the machine has half of that", function, size);
    if (errno != ENOMEM) fail("%s of %zu bytes: errno is %d, expected ENOMEM", function, size, errno);
    errno = 0;
}

}  // namespace

int main() {
    require_granary();
    int overcommit = kAlwaysGranted;
    std::ifstream("/proc/sys/vm/overcommit_memory") >> overcommit;
    if (overcommit == kAlwaysGranted) {
        std::fprintf(stderr, "skipped: vm.overcommit_memory is 1, so the kernel grants everything\n");
        return 77;
    }
    struct sysinfo machine = {};
    if (sysinfo(&machine) != 0) fail("sysinfo: errno %d", errno);
    const size_t size = 2 * (machine.totalram + machine.totalswap) * machine.mem_unit;
    gr_heap *const heap = gr_heap_new(0);
    if (heap == nullptr) fail("gr_heap_new was refused");
    for (const size_t small : {size_t{100}, size_t{1} << 20, size_t{64} << 20}) {
        auto *const block = static_cast<char *>(std::malloc(small));
        if (block == nullptr) fail("malloc of %zu bytes was refused", small);
        block[0] = block[small - 1] = 7;
        errno = 0;
        require_refused("malloc", size, std::malloc(size));
        require_refused("calloc", size, std::calloc(size / 16, 16));
        require_refused("realloc", size, std::realloc(block, size));
        require_refused("aligned_alloc", size, std::aligned_alloc(4096, size));
        require_refused("gr_heap_malloc", size, gr_heap_malloc(heap, size));
        if (block[0] != 7 || block[small - 1] != 7) fail("a refused realloc changed the block of %zu bytes", small);
        std::free(block);
    }
    gr_heap_destroy(heap);
    return 0;
}
