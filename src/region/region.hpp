// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the one reserved address range and its parts, all found by arithmetic from its base.
// Invariant: base | unit map | readable zeroes | fixed tables | tables that grow with the units | chunks of units;
//            every part is committed as a prefix, the unit map, the growing tables and the chunks for the same units.
// Must not know: what the tables hold; superblocks and heaps.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "base/bits.hpp"
#include "base/config.hpp"
#include "base/units.hpp"

namespace gr {

// One word per unit: what free needs to know of it. 0: nothing that can be freed begins here.
using UnitEntry = std::uint64_t;

// A part of the reservation that is committed from its start.
class CommittedPrefix {
  public:
    CommittedPrefix() = default;
    CommittedPrefix(char *begin, std::size_t reserved) : begin_(begin), reserved_(reserved) {}

    char *begin() const { return begin_; }
    std::size_t committed() const { return committed_; }
    // Commits in multiples of step. false: the kernel refused, nothing changed.
    bool ensure(std::size_t bytes, std::size_t step);
    // What that would commit.
    std::size_t growth(std::size_t bytes, std::size_t step) const { return target_for(bytes, step) - committed_; }

  private:
    std::size_t target_for(std::size_t bytes, std::size_t step) const {
        if (bytes <= committed_) return committed_;
        const std::size_t target = align_up(bytes, step);
        return target < reserved_ ? target : reserved_;
    }

    char *begin_ = nullptr;
    std::size_t reserved_ = 0;
    std::size_t committed_ = 0;
};

// What the layers above want kept beside the chunks.
struct TableSizes {
    std::size_t readable_bytes = 0;         // zeroes, until the owner of a piece commits it
    std::size_t fixed_bytes = 0;            // whatever the number of chunks
    std::size_t fixed_bytes_per_chunk = 0;  // in the fixed table too, for every chunk that could be
    std::array<std::size_t, 3> bytes_per_chunk{};
};

class Region {
  public:
    // Reserves at most `wanted` bytes of chunks, halving until the kernel agrees. false: not even the least.
    bool reserve(std::size_t wanted, const TableSizes &sizes);
    // Gives the whole reservation back; nothing in it may be used any more.
    void unreserve();

    char *base() const { return base_; }
    char *readable_table() const { return readable_; }
    char *fixed_table() const { return fixed_.begin(); }
    char *table(std::size_t which) const { return tables_[which].begin(); }
    std::uint32_t chunk_limit() const { return chunk_limit_; }
    UnitIndex first_unit() const { return first_unit_; }
    UnitIndex unit_at(ChunkIndex c) const { return UnitIndex(first_unit_.value + c.value * kUnitsPerChunk); }
    ChunkIndex chunk_of(UnitIndex u) const { return ChunkIndex((u.value - first_unit_.value) / kUnitsPerChunk); }

    UnitEntry &entry(UnitIndex u) const { return reinterpret_cast<UnitEntry *>(base_)[u.value]; }
    char *address(UnitIndex u) const { return base_ + (std::size_t{u.value} << kUnitShift); }

    // Units below it have an entry, tables and memory.
    UnitIndex unit_end() const { return UnitIndex(unit_end_.load(std::memory_order_relaxed)); }
    const std::atomic<std::uint32_t> *unit_end_cell() const { return &unit_end_; }
    std::uint32_t chunk_count() const { return (unit_end().value - first_unit_.value) / kUnitsPerChunk; }
    template <class Visit>
    void for_each_unit(ChunkIndex chunk, Visit visit) const {
        const UnitIndex first = unit_at(chunk);
        for (UnitIndex u = first; u < first + UnitCount(kUnitsPerChunk); ++u) visit(u);
    }
    // Whether the address lies in a committed unit.
    bool contains(const void *p) const { return unit_of(p).value < unit_end().value; }
    // The unit of an address; wraps to a large index below the base.
    UnitIndex unit_of(const void *p) const {
        const std::size_t unit =
            (reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(base_)) >> kUnitShift;
        return UnitIndex(unit > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(unit));
    }

    // Commits everything that the first `chunks` chunks need. false: refused, nothing that matters changed.
    bool ensure_chunks(std::uint32_t chunks);

    // The end of these units as an offset from the base, in fine steps.
    std::uint64_t fine_end() const { return (std::uint64_t{unit_end().value} << kUnitShift) / kFineStep; }
    // Keeps *cell at it from now on: the sequences read it.
    void publish_fine_end(std::uint64_t *cell) {
        published_fine_end_ = cell;
        *cell = fine_end();
    }

    std::size_t reserved_bytes() const { return reserved_bytes_; }
    std::size_t metadata_bytes() const;
    // By how much ensure_chunks would make it grow.
    std::size_t metadata_growth(std::uint32_t chunks) const;

  private:
    std::uint32_t chunks_for(std::uint32_t chunks) const;
    std::size_t map_bytes_for(std::uint32_t chunks) const;
    void lay_out(std::uint32_t chunks, const TableSizes &sizes);

    char *reservation_ = nullptr;
    char *base_ = nullptr;  // the first chunk boundary in it
    CommittedPrefix unit_map_;
    char *readable_ = nullptr;
    CommittedPrefix fixed_;
    std::array<CommittedPrefix, 3> tables_;
    std::array<std::size_t, 3> bytes_per_chunk_{};
    CommittedPrefix chunks_;
    UnitIndex first_unit_;
    std::uint32_t chunk_limit_ = 0;
    std::uint32_t committed_chunks_ = 0;
    // Read without a lock; whoever holds an address beyond an older value got it from the thread that stored the newer.
    std::atomic<std::uint32_t> unit_end_{0};
    std::uint64_t *published_fine_end_ = nullptr;
    std::size_t reserved_bytes_ = 0;
};

}  // namespace gr
