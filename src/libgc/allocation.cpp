// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/allocation.hpp"

#include <cstring>

#include "base/check.hpp"
#include "libgc/messages.hpp"
#include "libgc/statistics.hpp"

namespace gr {

// A collection has just run. Another one may find more, because finalizers and other threads may have dropped objects.
void *out_of_memory(Kind &kind, std::size_t size, std::size_t bytes, std::size_t beyond) {
    for (GC_word tries = now(GC_max_retries); tries != 0; --tries) {
        if (!collector.collect(Reason::refused).done) break;
        if (void *const p = collector.allocate(kind, bytes, beyond)) return p;
    }
    warn("GC Warning: no memory for an object, even after a collection; the heap has %lu MiB\n",
         collector.present_bytes() / kMiB);
    return now(GC_oom_fn)(size);
}

void *allocate_own(unsigned kind, std::size_t size) {
    void *const p = collector.allocate(kind_of_number(kind), size);
    if (p != nullptr) count_own(collector.block_at(p).bytes);
    return p;
}

void free_own(void *p) {
    const BlockAt block = collector.block_at(p);
    GR_CHECK(block.kind != nullptr);
    count_own_freed(block.bytes);
    // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): allocate_own gave it
    Collector::free(*block.kind, p);
}

namespace {

BlockAt block_of(const char *function, const void *p) {
    const BlockAt block = collector.block_at(p);
    if (block.kind != nullptr && block.begin == p) return block;
    TextBuffer<160> line;
    line << function << ": " << p << " is not the beginning of an object; pass the address that was allocated" << '\0';
    die(line.data());
}

// Whether the block has room for so many bytes, and leads to itself so far beyond them, and they are not less than half
// of it.
bool fits(const BlockAt &block, std::size_t size, std::size_t more) {
    return size <= block.bytes && size + more <= block.extent && size + more >= block.bytes / 2;
}

void *resize_in_place(const BlockAt &block, std::size_t size) {
    if (block.kind->setup.zeroed) std::memset(static_cast<char *>(block.begin) + size, 0, block.usable() - size);
    return block.begin;
}

// A block that says itself what it holds says nothing once it is free.
[[gnu::noinline]] void free_slowly(void *p) {
    if (p == nullptr) return;
    const BlockAt block = block_of("GC_free", p);
    if (block.kind->setup.asks_blocks()) block.clear();
    if (std::uint64_t *const counter = freed.words(); counter != nullptr && block.kind->instance.push(p, counter))
        return;
    count_freed(block.bytes);
    Collector::free(*block.kind, p);
}

}  // namespace

void *resize_block(const char *function, void *p, std::size_t size, std::size_t more) {
    if (size > PTRDIFF_MAX) return nullptr;
    const BlockAt block = block_of(function, p);
    if (fits(block, size, more)) return resize_in_place(block, size);
    void *const moved = collector.allocate(*block.kind, size + more, more);
    if (moved == nullptr) return nullptr;
    std::memcpy(moved, p, size < block.usable() ? size : block.usable());
    free(p);
    return moved;
}

void free(void *p) {
    if (std::uint64_t *const counter = freed.words(); counter != nullptr && collector.free_quickly(p, counter))
        [[likely]]
        return;
    free_slowly(p);
}

}  // namespace gr
