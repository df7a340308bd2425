// SPDX-License-Identifier: Apache-2.0 OR MIT
// Live blocks are the blocks that are in no other state, so the counting equation always holds.

#include "instance/statistics.hpp"

#include <cstddef>
#include <cstring>

#include "platform/process.hpp"

namespace gr {
namespace {

std::uint64_t clamped(std::uint64_t n, std::uint64_t limit) { return n < limit ? n : limit; }

// Reads a field once that another thread may be writing, so that the parts still add up.
template <class T>
T read_once(const T &field) {
    return *static_cast<const volatile T *>(&field);
}

gr_class_statistics empty_row(gr_class_kind kind) {
    gr_class_statistics row{};
    row.size = sizeof row;
    row.version = GR_CLASS_STATISTICS_VERSION;
    row.kind = kind;
    return row;
}

gr_class_statistics row_of_large(gr_class_kind kind, std::uint64_t blocks, std::uint64_t bytes) {
    gr_class_statistics row = empty_row(kind);
    row.live_blocks = blocks;
    row.live_bytes = row.address_bytes = bytes;
    return row;
}

// Adds what is summed over a heap and its companion, but not over classes.
void add_instance(const Instance &allocator, gr_statistics *out) {
    out->retained_bytes += allocator.pages().retained_bytes();
    out->lazy_bytes += allocator.pages().lazy_bytes();
    out->metadata_bytes += metadata_bytes(allocator);
    out->reserved_bytes += allocator.region().reserved_bytes();
    out->heap_bytes += allocator.pages().used_bytes();
    out->purged_bytes += allocator.pages().purged_bytes() + allocator.heaps().swept_bytes();
    out->purge_calls += allocator.pages().purge_calls() + allocator.heaps().sweep_calls();
}

constexpr std::uint32_t kHeadBytes = 2 * sizeof(std::uint32_t);  // size and version

}  // namespace

HeapCount::HeapCount(const Instance &allocator) {
    add(allocator);
    if (const Instance *const companion = allocator.companion()) add(*companion);
}

void HeapCount::add(const Instance &allocator) {
    const Region &region = allocator.region();
    const Superblocks &superblocks = allocator.superblocks();
    for (UnitIndex u = region.first_unit(); u < region.unit_end();) {
        const Superblock *const s = superblocks.descriptor(u);
        UnitCount step(1);
        if (s->use == UnitUse::superblock) {
            add_superblock(superblocks, s);
            step = s->units;
        } else if (s->use == UnitUse::run) {
            run_bytes_ += Superblocks::block_size(s);
            run_count_ += 1;
            step = s->units;
        }
        u = u + (step.value == 0 ? UnitCount(1) : step);
    }
    allocator.heaps().count_cached(cached_);
    direct_bytes_ += allocator.direct().bytes();
    direct_count_ += allocator.direct().count();
}

void HeapCount::add_superblock(const Superblocks &superblocks, const Superblock *s) {
    const ClassIndex c(read_once(s->size_class.value));
    const std::uint64_t blocks = shape_of(c).blocks;
    const std::uint64_t free = clamped(read_once(s->free_count), blocks);
    superblocks_[c.value] += 1;
    if (!is_heap(s->owner.load(std::memory_order_relaxed))) global_superblocks_[c.value] += 1;
    free_[c.value] += free;
    // Without the mark no remote bits wait, unless a thread is about to set the mark.
    if (s->mark.load(std::memory_order_relaxed) != 0)
        remote_[c.value] += clamped(superblocks.remote_count(s), blocks - free);
}

gr_class_statistics HeapCount::class_row(ClassIndex c) const {
    const ClassShape &shape = shape_of(c);
    gr_class_statistics row = empty_row(GR_CLASS_BLOCKS);
    row.block_size = shape.size;
    row.superblock_blocks = shape.blocks;
    row.superblocks = superblocks_[c.value];
    row.global_superblocks = global_superblocks_[c.value];
    row.free_blocks = free_[c.value];
    row.remote_blocks = remote_[c.value];
    // These blocks are neither free nor freed remotely, so they are in use or cached. Other threads may move blocks
    // meanwhile; the counting equation still holds.
    const std::uint64_t out = row.superblocks * shape.blocks - row.free_blocks - row.remote_blocks;
    row.magazine_blocks = clamped(cached_[c.value], out);
    row.live_blocks = out - row.magazine_blocks;
    row.live_bytes = row.live_blocks * shape.size;
    row.address_bytes = row.superblocks * shape.bytes();
    return row;
}

gr_class_statistics HeapCount::row(std::size_t number) const {
    if (number == kRows - 2) return row_of_large(GR_CLASS_RUNS, run_count_, run_bytes_);
    if (number == kRows - 1) return row_of_large(GR_CLASS_DIRECT, direct_count_, direct_bytes_);
    return class_row(ClassIndex(static_cast<std::uint32_t>(number + 1)));
}

void HeapCount::add_up(gr_statistics *out) const {
    for (std::size_t i = 0; i < kRows; ++i) {
        const gr_class_statistics r = row(i);
        const std::uint64_t block_bytes = r.superblocks * r.superblock_blocks * r.block_size;
        out->live_bytes += r.live_bytes;
        out->live_blocks += r.live_blocks;
        out->superblocks += r.superblocks;
        out->global_superblocks += r.global_superblocks;
        out->magazine_bytes += r.magazine_blocks * r.block_size;
        out->magazine_blocks += r.magazine_blocks;
        out->remote_bytes += r.remote_blocks * r.block_size;
        out->free_bytes += r.free_blocks * r.block_size;
        out->free_blocks += r.free_blocks;
        out->block_bytes += block_bytes;
        if (r.kind == GR_CLASS_BLOCKS) out->tail_bytes += r.address_bytes - block_bytes;
    }
    out->run_bytes = run_bytes_;
    out->run_count = run_count_;
    out->direct_bytes = direct_bytes_;
    out->direct_count = direct_count_;
}

std::size_t metadata_bytes(const Instance &allocator) {
    return allocator.region().metadata_bytes() + allocator.heaps().active_heaps() * kSlabBytes;
}

gr_statistics count_statistics(const Instance &allocator, const HeapCount &counted) {
    gr_statistics out{};
    out.size = sizeof out;
    out.version = GR_STATISTICS_VERSION;
    counted.add_up(&out);
    add_instance(allocator, &out);
    if (const Instance *const companion = allocator.companion()) add_instance(*companion, &out);
    out.reuse_bytes = allocator.pages().reuse_bytes();
    out.reuse_seconds = allocator.pages().reuse_seconds();
    out.peak_heap_bytes = allocator.pages().peak_bytes();
    out.peak_direct_bytes = allocator.direct().peak_bytes();
    out.heaps = allocator.heaps().active_heaps();
    out.rseq = allocator.heaps().uses_sequences() ? 1 : 0;
    return out;
}

gr_statistics count_statistics(const Instance &allocator) { return count_statistics(allocator, HeapCount(allocator)); }

void ask_resident(gr_statistics *out) { out->resident_bytes = platform::resident_bytes(); }
void ask_huge(gr_statistics *out) { out->huge_bytes = platform::huge_page_bytes(); }

bool copy_statistics(const Instance &allocator, gr_statistics *out) {
    if (out == nullptr || out->size < kHeadBytes) return false;
    gr_statistics full = count_statistics(allocator);
    if (out->size < full.size) full.size = out->size;
    if (full.size > offsetof(gr_statistics, resident_bytes)) ask_resident(&full);
    if (full.size > offsetof(gr_statistics, huge_bytes)) ask_huge(&full);
    std::memcpy(out, &full, full.size);
    return true;
}

bool copy_rows(const Instance &allocator, gr_class_statistics *rows, std::size_t capacity) {
    if (capacity == 0) return true;
    if (rows == nullptr || rows->size < kHeadBytes || rows->size % alignof(gr_class_statistics) != 0) return false;
    const HeapCount counted(allocator);
    const std::size_t distance = rows->size;
    auto *to = reinterpret_cast<char *>(rows);
    for (std::size_t i = 0; i < HeapCount::kRows && i < capacity; ++i, to += distance) {
        gr_class_statistics full = counted.row(i);
        if (distance < full.size) full.size = static_cast<std::uint32_t>(distance);
        std::memcpy(to, &full, full.size);
    }
    return true;
}

}  // namespace gr
