// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the empty allocator: malloc moves a pointer through a chunk that only its thread has, free does nothing.
//    Question: what is left of a workload's cost when the allocator does next to nothing? No lower bound:
//    memory that is never used again must be faulted in, and is in no cache.
// Invariant: no memory is handed out twice, so a block of zeros needs no clearing. A process maps at most kLimit and is
//    then out of memory, so that a long workload cannot take the machine down.
// Must not know: any workload.
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr std::size_t kLimit = std::size_t{4} << 30;
constexpr std::size_t kChunk = std::size_t{256} << 10;
constexpr std::size_t kAlignment = alignof(std::max_align_t);

// In front of each block: realloc must know how much to copy.
struct Header {
    std::size_t size;
};

struct Chunk {
    std::uintptr_t free;
    std::uintptr_t end;

    // 0: no room.
    std::uintptr_t take(std::size_t alignment, std::size_t size) {
        const std::uintptr_t block = (free + sizeof(Header) + alignment - 1) & ~(alignment - 1);
        if (block > end || size > end - block) return 0;
        free = block + size;
        return block;
    }
};

constinit std::atomic<std::size_t> mapped = 0;
constinit thread_local Chunk chunk{};

// {0, 0}: out of memory.
Chunk map(std::size_t bytes) {
    if (mapped.fetch_add(bytes, std::memory_order_relaxed) + bytes <= kLimit) {
        void *const begin = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const auto address = reinterpret_cast<std::uintptr_t>(begin);
        if (begin != MAP_FAILED) return {address, address + bytes};
    }
    mapped.fetch_sub(bytes, std::memory_order_relaxed);
    return {};
}

// A large block gets a mapping of its own, lest the rest of a chunk be lost for it.
std::uintptr_t take_mapped(std::size_t alignment, std::size_t size) {
    const std::size_t needed = sizeof(Header) + alignment + size;
    Chunk fresh = map(std::max(needed, kChunk));
    const std::uintptr_t block = fresh.take(alignment, size);
    if (needed < kChunk / 2 && block != 0) chunk = fresh;
    return block;
}

void *allocate(std::size_t alignment, std::size_t size) {
    std::uintptr_t block = 0;
    if (size <= kLimit && alignment <= kLimit) {
        block = chunk.take(alignment, size);
        if (block == 0) block = take_mapped(alignment, size);
    }
    if (block == 0) {
        errno = ENOMEM;
        return nullptr;
    }
    reinterpret_cast<Header *>(block)[-1].size = size;
    return reinterpret_cast<void *>(block);
}

std::size_t page() { return static_cast<std::size_t>(getpagesize()); }

std::size_t size_of(const void *block) { return static_cast<const Header *>(block)[-1].size; }

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void *malloc(size_t size) noexcept { return allocate(kAlignment, size); }

void free(void *) noexcept {}

void *calloc(size_t number, size_t size) noexcept {
    size_t bytes = 0;
    return malloc(__builtin_mul_overflow(number, size, &bytes) ? SIZE_MAX : bytes);
}

void *realloc(void *block, size_t size) noexcept {
    if (block == nullptr) return malloc(size);
    if (size == 0) return nullptr;  // as glibc
    if (size <= size_of(block)) return block;
    void *const moved = malloc(size);
    return moved != nullptr ? std::memcpy(moved, block, size_of(block)) : nullptr;
}

// As glibc: an alignment that is no power of two is rounded up to one.
void *memalign(size_t alignment, size_t size) noexcept {
    return allocate(alignment > kLimit ? SIZE_MAX : std::bit_ceil(std::max(alignment, kAlignment)), size);
}

void *aligned_alloc(size_t alignment, size_t size) noexcept { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) noexcept {
    if (!std::has_single_bit(alignment) || alignment < sizeof(void *)) return EINVAL;
    const int kept = errno;
    void *const block = memalign(alignment, size);
    errno = kept;
    if (block == nullptr) return ENOMEM;
    *result = block;
    return 0;
}

void *valloc(size_t size) noexcept { return memalign(page(), size); }

void *pvalloc(size_t size) noexcept { return memalign(page(), size <= kLimit ? (size + page() - 1) & -page() : size); }

size_t malloc_usable_size(void *block) noexcept { return block != nullptr ? size_of(block) : 0; }
}
#pragma GCC visibility pop
