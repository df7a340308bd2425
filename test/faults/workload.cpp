// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the program whose system calls sweep.py makes fail: every class, runs, direct mappings, realloc, trim.
// Invariant: ends with status 0: it survives every refusal and in the end gets all it asks for, unless told that the
//    failure lasts (--lasting).
// Must not know: which call fails.
#include <pthread.h>

#include <memory>
#include <new>

#include "patient.hpp"

using namespace gr::test;

namespace {

// sweep.py counts the calls behind this line in the trace. Descriptor -1, so that nothing is printed.
void mark_main() {
    if (write(-1, "granary: main", 13) != -1) fail("write to descriptor -1 succeeded");
}

// A burst of blocks large enough that most of it is given back to the kernel when it is freed.
void burst() {
    constexpr size_t kBlocks = 400;
    std::array<void *, kBlocks> blocks = {};
    for (size_t number = 0; number < kBlocks; ++number) {
        const size_t size = number % 2 == 0 ? 30000 : 90000;
        blocks[number] = std::malloc(size);
        if (blocks[number] != nullptr) std::memset(blocks[number], 0xaa, size);
    }
    for (void *block : blocks) std::free(block);
}

// Grows and shrinks a direct mapping; each failure must leave the block as it was.
void stretch() {
    size_t size = kDirectSizes[0];
    auto *block = static_cast<unsigned char *>(std::malloc(size));
    if (block == nullptr) return;
    block[0] = block[size - 1] = 7;
    for (const size_t wanted : {size * 2, size * 3, size + 4096, size, size_t{100}, size}) {
        auto *moved = static_cast<unsigned char *>(std::realloc(block, wanted));
        if (moved == nullptr) continue;
        block = moved;
        if (block[0] != 7) fail("realloc to %zu bytes: the first byte changed", wanted);
        size = wanted;
    }
    std::free(block);
}

void *in_thread(void *) {
    Patient patient(2);
    patient.churn(400, kSizeCount);
    return nullptr;
}

void with_thread() {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, in_thread, nullptr) == 0) pthread_join(thread, nullptr);
}

bool recovers() {
    constexpr int kAttempts = 20;
    for (int attempt = 0; attempt < kAttempts; ++attempt)
        if (every_size_is_granted()) return true;
    return false;
}

}  // namespace

int main(int argc, char **argv) {
    const bool lasting = argc > 1 && std::strcmp(argv[1], "--lasting") == 0;
    require_granary();
    alarm(50);
    mark_main();
    {
        // Where the failure lasts, not even this may be granted.
        const std::unique_ptr<Patient> patient(new (std::nothrow) Patient(1));
        if (patient != nullptr) patient->churn(600, kSizeCount);
        burst();
        malloc_trim(0);
        stretch();
        with_thread();
        if (patient != nullptr) patient->churn(300, kSizeCount);
    }
    malloc_trim(0);
    if (!recovers() && !lasting) fail("memory is still refused although no call fails any more");
    if (const std::optional<gr_statistics> taken = statistics()) require_counting_equation(*taken);
    return 0;
}
