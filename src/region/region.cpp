// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the arithmetic and the commits of region.hpp.
// Invariant: PROT_NONE until committed, so that the reservation is charged nowhere and mlockall does not fill it.
// Must not know: what the tables hold; superblocks and heaps.
#include "region/region.hpp"

#include "base/check.hpp"
#include "platform/memory.hpp"

namespace gr {
namespace {

constexpr std::size_t kTableStep = 64 * kKiB;
constexpr std::uint32_t kChunkStepDivisor = 4;  // chunks are committed in steps of this part of what is there
constexpr std::uint32_t kMinChunkStep = 2;
constexpr std::uint32_t kMaxChunkStep = 64;
constexpr std::size_t kMapBytesPerChunk = kUnitsPerChunk * sizeof(UnitEntry);

struct Offsets {
    std::size_t readable = 0;
    std::size_t fixed = 0;
    std::size_t fixed_bytes = 0;
    std::array<std::size_t, 3> tables{};
    std::size_t chunks = 0;
    std::size_t end = 0;
};

Offsets offsets_for(std::uint32_t chunks, const TableSizes &sizes) {
    Offsets o;
    // The map covers the tables' own units too: their entries stay 0 and reject whoever frees an address there.
    std::size_t tables = sizes.readable_bytes + sizes.fixed_bytes + sizes.fixed_bytes_per_chunk * chunks;
    for (std::size_t bytes : sizes.bytes_per_chunk) tables += bytes * chunks + kTableStep;
    const std::size_t map_bytes = kMapBytesPerChunk * chunks;
    const std::size_t units_before = divide_up(tables + map_bytes * 2 + 2 * kChunkBytes, kUnitBytes);
    o.readable = align_up(map_bytes + units_before * sizeof(UnitEntry), kTableStep);
    o.fixed = align_up(o.readable + sizes.readable_bytes, kTableStep);
    o.fixed_bytes = align_up(sizes.fixed_bytes + sizes.fixed_bytes_per_chunk * chunks, kTableStep);
    std::size_t next = o.fixed + o.fixed_bytes;
    for (std::size_t i = 0; i < sizes.bytes_per_chunk.size(); ++i) {
        o.tables[i] = next;
        next = align_up(next + sizes.bytes_per_chunk[i] * chunks, kTableStep);
    }
    o.chunks = align_up(next, kChunkBytes);
    o.end = o.chunks + chunks * kChunkBytes;
    return o;
}

}  // namespace

bool CommittedPrefix::ensure(std::size_t bytes, std::size_t step) {
    if (bytes <= committed_) return true;
    const std::size_t target = target_for(bytes, step);
    if (target < bytes || !platform::commit(begin_ + committed_, target - committed_)) return false;
    committed_ = target;
    return true;
}

bool Region::reserve(std::size_t wanted, const TableSizes &sizes) {
    for (std::size_t bytes = align_up(wanted, kChunkBytes); bytes >= kRegionMinBytes;
         bytes = align_down(bytes / 2, kChunkBytes)) {
        const auto chunks = static_cast<std::uint32_t>(bytes >> kChunkShift);
        const std::size_t total = offsets_for(chunks, sizes).end;
        reservation_ = static_cast<char *>(platform::reserve(total + kChunkBytes));
        if (reservation_ == nullptr) continue;
        reserved_bytes_ = total + kChunkBytes;
        lay_out(chunks, sizes);
        if (platform::make_readable(readable_, sizes.readable_bytes) &&
            fixed_.ensure(align_up(sizes.fixed_bytes + sizes.fixed_bytes_per_chunk * chunks, kTableStep), kTableStep) &&
            ensure_chunks(1)) {
            return true;
        }
        unreserve();
    }
    return false;
}

void Region::unreserve() {
    platform::unmap(reservation_, reserved_bytes_);
    reservation_ = base_ = nullptr;
    reserved_bytes_ = 0;
    unit_end_.store(0, std::memory_order_relaxed);
}

void Region::lay_out(std::uint32_t chunks, const TableSizes &sizes) {
    const Offsets o = offsets_for(chunks, sizes);
    base_ = reinterpret_cast<char *>(align_up(reinterpret_cast<std::uintptr_t>(reservation_), kChunkBytes));
    unit_map_ = CommittedPrefix(base_, o.readable);
    readable_ = base_ + o.readable;
    fixed_ = CommittedPrefix(base_ + o.fixed, o.fixed_bytes);
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        tables_[i] = CommittedPrefix(base_ + o.tables[i], align_up(sizes.bytes_per_chunk[i] * chunks, kTableStep));
    }
    bytes_per_chunk_ = sizes.bytes_per_chunk;
    chunks_ = CommittedPrefix(base_ + o.chunks, chunks * kChunkBytes);
    first_unit_ = UnitIndex(static_cast<std::uint32_t>(o.chunks >> kUnitShift));
    chunk_limit_ = chunks;
    committed_chunks_ = 0;
}

// A step further than asked, so that there are few.
std::uint32_t Region::chunks_for(std::uint32_t chunks) const {
    std::uint32_t step = committed_chunks_ / kChunkStepDivisor;
    step = step < kMinChunkStep ? kMinChunkStep : step > kMaxChunkStep ? kMaxChunkStep : step;
    const std::uint32_t target = committed_chunks_ + step < chunks ? chunks : committed_chunks_ + step;
    return target > chunk_limit_ ? chunk_limit_ : target;
}

// A table's index is the unit's, counted from the base: the units before the first chunk lie unused in front.
std::size_t Region::map_bytes_for(std::uint32_t chunks) const {
    return (first_unit_.value + std::size_t{chunks} * kUnitsPerChunk) * sizeof(UnitEntry);
}

std::size_t Region::metadata_growth(std::uint32_t chunks) const {
    if (chunks <= committed_chunks_ || chunks > chunk_limit_) return 0;
    const std::uint32_t target = chunks_for(chunks);
    std::size_t total = unit_map_.growth(map_bytes_for(target), kTableStep);
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        total += tables_[i].growth(bytes_per_chunk_[i] * target, kTableStep);
    }
    return total;
}

bool Region::ensure_chunks(std::uint32_t chunks) {
    if (chunks <= committed_chunks_) return true;
    if (chunks > chunk_limit_) return false;
    const std::uint32_t target = chunks_for(chunks);
    if (!unit_map_.ensure(map_bytes_for(target), kTableStep)) return false;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        if (!tables_[i].ensure(bytes_per_chunk_[i] * target, kTableStep)) return false;
    }
    if (!chunks_.ensure(target * kChunkBytes, kChunkBytes)) return false;
    committed_chunks_ = target;
    unit_end_.store(first_unit_.value + target * kUnitsPerChunk, std::memory_order_relaxed);
    if (published_fine_end_ != nullptr) *published_fine_end_ = fine_end();
    return true;
}

std::size_t Region::metadata_bytes() const {
    std::size_t total = unit_map_.committed() + fixed_.committed();
    for (const CommittedPrefix &table : tables_) total += table.committed();
    return total;
}

}  // namespace gr
