// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the one address range and its parts, all found by arithmetic from its base: mapped as it grows, far from all other
//    mappings; in a small machine's address space, or in somebody's place, reserved whole.
// Invariant: base | unit map | readable zeroes | fixed tables | tables that grow with the units | chunks of units;
//    every part but the chunks of a scarce region is committed as a prefix, all for the same units. What is not mapped
//    may be mapped by others: it is taken only where nobody is, and its units' entries are 0.
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

// reserved: the range is one reservation, of which parts are committed.
// open:     nothing is reserved; each part is mapped from its start as it grows.
// scarce:   as open, and units are mapped one by one, so that those that go back leave holes.
enum class Space : std::uint8_t { reserved, open, scarce };

// A part of the range that is committed from its start.
class CommittedPrefix {
  public:
    CommittedPrefix() = default;
    CommittedPrefix(char *begin, std::size_t bytes, Space space) : begin_(begin), bytes_(bytes), space_(space) {}

    char *begin() const { return begin_; }
    std::size_t committed() const { return committed_; }
    // Commits in multiples of step. false: the kernel refused, nothing changed.
    bool ensure(std::size_t bytes, std::size_t step);
    // Not of a reservation.
    void unmap();
    // What that would commit.
    std::size_t growth(std::size_t bytes, std::size_t step) const { return target_for(bytes, step) - committed_; }

  private:
    std::size_t target_for(std::size_t bytes, std::size_t step) const {
        if (bytes <= committed_) return committed_;
        const std::size_t target = align_up(bytes, step);
        return target < bytes_ ? target : bytes_;
    }

    char *begin_ = nullptr;
    std::size_t bytes_ = 0;
    std::size_t committed_ = 0;
    Space space_ = Space::reserved;
};

// What the layers above want kept beside the chunks.
struct TableSizes {
    std::size_t readable_bytes = 0;         // zeroes, until the owner of a piece commits it
    std::size_t fixed_bytes = 0;            // whatever the number of chunks
    std::size_t fixed_bytes_per_chunk = 0;  // in the fixed table too, for every chunk that could be
    std::array<std::size_t, 3> bytes_per_chunk{};
    std::size_t seldom_used = SIZE_MAX;  // of these; in a scarce region it grows by ensure_table only
};

class Region {
  public:
    // Reserves at most `wanted` bytes of chunks, halving until the kernel agrees. false: not even the least.
    bool reserve(std::size_t wanted, const TableSizes &sizes);
    // In so many bytes that the caller has reserved, and keeps. false: they are too few, or the kernel refused.
    bool settle(char *place, std::size_t bytes, const TableSizes &sizes);
    // Reserves nothing: takes a range far from all other mappings, and maps each part from its start as it grows. false:
    // the process has no addresses so far away, or the kernel refused memory for the tables.
    bool open(std::size_t wanted, const TableSizes &sizes);
    // As open, but units are mapped one by one, and those that go back leave holes. address_limit: the bytes that the
    // process may map.
    bool spread(std::size_t wanted, const TableSizes &sizes, std::size_t address_limit);
    // Gives everything back but units that were mapped one by one; nothing in it may be used any more.
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

    // Units below it have an entry and tables; and memory, but in a scarce region those only that map_units gave some.
    UnitIndex unit_end() const { return UnitIndex(unit_end_.load(std::memory_order_relaxed)); }
    const std::atomic<std::uint32_t> *unit_end_cell() const { return &unit_end_; }
    std::uint32_t chunk_count() const { return (unit_end().value - first_unit_.value) / kUnitsPerChunk; }
    template <class Visit>
    void for_each_unit(ChunkIndex chunk, Visit visit) const {
        const UnitIndex first = unit_at(chunk);
        for (UnitIndex u = first; u < first + UnitCount(kUnitsPerChunk); ++u) visit(u);
    }
    // Whether the address lies in a committed unit; of a scarce region that is to say, in the range: others may have
    // mapped what is not mapped here.
    bool contains(const void *p) const { return unit_of(p).value < unit_end().value; }
    // The unit of an address; wraps to a large index below the base.
    UnitIndex unit_of(const void *p) const {
        const std::size_t unit =
            (reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(base_)) >> kUnitShift;
        return UnitIndex(unit > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(unit));
    }

    // Gives a piece of the readable table memory that can be written. false: refused, it reads as zeroes as before.
    bool make_writable(char *piece, std::size_t bytes) const;

    // Commits everything that the first `chunks` chunks need. false: refused, nothing that matters changed.
    bool ensure_chunks(std::uint32_t chunks);

    // The same for the table that is seldom used, up to a chunk that is there.
    bool ensure_table(std::size_t which, ChunkIndex chunk) {
        return ensure(tables_[which], bytes_per_chunk_[which] * (chunk.value + 1));
    }

    // The end of these units as an offset from the base, in fine steps.
    std::uint64_t fine_end() const { return (std::uint64_t{unit_end().value} << kUnitShift) / kFineStep; }
    // Keeps *cell at it from now on: the sequences read it.
    void publish_fine_end(std::uint64_t *cell) {
        published_fine_end_ = cell;
        *cell = fine_end();
    }

    bool is_scarce() const { return space() == Space::scarce; }
    // The kernel maps nothing more: an open region is a scarce one from now on, all of whose units are mapped. false: it is
    // not open.
    bool become_scarce();
    // In a scarce region: memory for units that have none. false: refused or taken by somebody, nothing changed.
    bool map_units(UnitIndex first, UnitCount count);
    // Gives it back, and its addresses with it. false: refused, nothing changed.
    bool unmap_units(UnitIndex first, UnitCount count);
    // Giving back fewer is not worth a hole, of which a process has so many only.
    UnitCount least_hole() const { return least_hole_; }
    // Whether huge pages may lie among the chunks from now on; until then as the kernel likes.
    void allow_huge_pages(bool allowed);

    // The addresses, and how many of them count as the process's.
    std::size_t range_bytes() const { return range_bytes_; }
    std::size_t reserved_bytes() const { return reserved_bytes_.load(std::memory_order_relaxed); }
    std::size_t metadata_bytes() const;
    // By how much ensure_chunks would make it grow, and ensure_table.
    std::size_t metadata_growth(std::uint32_t chunks) const;
    std::size_t table_growth(std::size_t which, ChunkIndex chunk) const;

  private:
    enum class HugePagesAllowed : std::uint8_t { unsaid, no, yes };

    Space space() const { return space_.load(std::memory_order_relaxed); }
    struct Distances;
    enum class Side : std::uint8_t { below, above };
    bool take_far(std::size_t bytes, const TableSizes &sizes, Space which, const Distances &distances, Side side);
    bool commit_start(const TableSizes &sizes);
    bool extend_to(std::uint32_t chunks);
    bool ensure(CommittedPrefix &prefix, std::size_t bytes);
    bool ensure_memory(std::uint32_t chunks);
    void advise(char *begin, std::size_t bytes) const;
    bool grows_with_chunks(std::size_t table) const { return !is_scarce() || table != seldom_used_; }
    std::uint32_t chunks_for(std::uint32_t chunks) const;
    std::size_t map_bytes_for(std::uint32_t chunks) const;
    void lay_out(char *at, std::uint32_t chunks, const TableSizes &sizes);

    char *reservation_ = nullptr;  // if there is one
    char *base_ = nullptr;         // the first chunk boundary in it
    CommittedPrefix unit_map_;
    char *readable_ = nullptr;
    std::size_t readable_bytes_ = 0;  // as far as they are mapped alone
    CommittedPrefix fixed_;
    std::array<CommittedPrefix, 3> tables_;
    std::array<std::size_t, 3> bytes_per_chunk_{};
    std::size_t seldom_used_ = SIZE_MAX;
    CommittedPrefix chunks_;
    UnitIndex first_unit_;
    std::uint32_t chunk_limit_ = 0;
    std::uint32_t committed_chunks_ = 0;
    // Read without a lock; whoever holds an address beyond an older value got it from the thread that stored the newer.
    std::atomic<std::uint32_t> unit_end_{0};
    std::uint64_t *published_fine_end_ = nullptr;
    std::size_t range_bytes_ = 0;
    std::atomic<std::size_t> reserved_bytes_{0};  // statistics; ordered by nothing
    UnitCount least_hole_{1};
    std::atomic<Space> space_{Space::reserved};  // who reads an older value maps or keeps a little more than it must
    // By who maps units, and whoever changes it tells the kernel of those that are mapped: ordered by nothing, for one
    // unit more or less does not matter.
    std::atomic<HugePagesAllowed> huge_pages_{HugePagesAllowed::unsaid};
};

}  // namespace gr
