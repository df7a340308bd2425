// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "libgc/allocation.hpp"

#include "libgc/messages.hpp"
#include "libgc/statistics.hpp"

namespace gr {

// A collection has just run. Another one may find more, because finalizers and other threads may have dropped objects.
void *out_of_memory(Kind &kind, std::size_t size, std::size_t bytes) {
    for (GC_word tries = now(GC_max_retries); tries != 0; --tries) {
        if (!collector.collect(Reason::refused).done) break;
        if (void *const p = collector.allocate(kind, bytes)) return p;
    }
    warn("GC Warning: no memory for an object, even after a collection; the heap has %lu MiB\n",
         collector.used_bytes() / kMiB);
    return now(GC_oom_fn)(size);
}

void count_uncollectable(const Kind &kind, std::size_t bytes, bool added) {
    if (kind.setup.lifetime == Lifetime::collected) return;
    const std::atomic_ref<GC_word> all(GC_non_gc_bytes);
    if (added) {
        all.fetch_add(bytes, std::memory_order_relaxed);
    } else {
        all.fetch_sub(bytes, std::memory_order_relaxed);
    }
}

namespace {

BlockAt block_of(const char *function, const void *p) {
    const BlockAt block = collector.block_at(p);
    if (block.begin == p) return block;
    TextBuffer<160> line;
    line << function << ": " << p << " is not the beginning of an object; pass the address that was allocated" << '\0';
    die(line.data());
}

[[gnu::noinline]] void free_slowly(void *p) {
    if (p == nullptr) return;
    const BlockAt block = block_of("GC_free", p);
    count_uncollectable(*block.kind, block.bytes, false);
    count_freed(block.bytes);
    free_block(block);
}

}  // namespace

void *resize_block(const char *function, void *p, std::size_t size, std::size_t more) {
    const BlockAt block = block_of(function, p);
    void *const resized = size > PTRDIFF_MAX ? nullptr : resize(block, size, more);
    if (resized == nullptr) return nullptr;
    count_uncollectable(*block.kind, block.bytes, false);
    count_uncollectable(*block.kind, collector.block_at(resized).bytes, true);
    return resized;
}

void free(void *p) {
    if (std::uint64_t *const counter = freed.words(); counter != nullptr && collector.free_quickly(p, counter))
        [[likely]]
        return;
    free_slowly(p);
}

}  // namespace gr
