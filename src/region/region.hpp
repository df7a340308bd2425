// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the one address range of an instance, and its parts, all found by arithmetic from its base. The range lies far
//    from all other mappings and is mapped as it grows. It is reserved as a whole where the process has no addresses so
//    far away, and lies in a reservation of the caller where the caller gives a place.
// Invariant: base | unit map | readable zeroes | chunks of units | fixed table | tables that grow with the units.
//    Every part but the chunks of a scarce region is committed as a prefix, all for the same units. Others may map what
//    is not mapped here: the region takes only addresses that nobody has mapped, and unmapped units' entries are 0.
// Must not know: what the tables hold; superblocks and heaps.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "base/bits.hpp"
#include "base/config.hpp"
#include "base/units.hpp"

namespace gr {

// One word for each unit: what free needs to know about the unit. 0: no block that can be freed begins here.
using UnitEntry = std::uint64_t;

// reserved: the range is one reservation, of which parts are committed. A reservation is PROT_NONE until committed, so
//           that it is charged nowhere and mlockall does not fill it.
// open:     nothing is reserved, because limits on addresses, core files and some emulators count a reservation. Each
//           part is mapped from its start as it grows.
// scarce:   as open, but units are mapped one by one, and units that are returned leave holes.
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
    // Not for Space::reserved.
    void unmap();
    // The bytes that ensure would commit.
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

// The tables that grow with the units. Those of the page heap come first.
inline constexpr std::size_t kPageHeapTables = 3;
inline constexpr std::size_t kGrowingTables = kPageHeapTables + 3;

// The tables of the layers above, in bytes.
struct TableSizes {
    std::size_t readable_bytes = 0;  // reads as zeroes until the user of a piece calls make_writable
    std::size_t fixed_bytes = 0;     // for any number of chunks
    std::array<std::size_t, kGrowingTables> bytes_per_chunk{};
    std::size_t seldom_used = SIZE_MAX;  // number of the table that only ensure_table grows
};

class Region {
  public:
    // Reserves at most `wanted` bytes of chunks, and halves the size until the kernel agrees. false: the kernel refused
    // even the least size.
    bool reserve(std::size_t wanted, const TableSizes &sizes);
    // Uses a place that the caller has reserved and continues to own. false: it is too small, or the kernel refused.
    bool settle(char *place, std::size_t bytes, const TableSizes &sizes);
    // Uses a place of the caller's where nothing is mapped, in the way of spread. false: it is too small, or the kernel
    // refused; then nothing is mapped.
    bool spread_within(char *place, std::size_t bytes, const TableSizes &sizes, std::size_t address_limit);
    // Reserves nothing: takes a range far from all other mappings, and maps each part from its start as it grows.
    // false: the process has no addresses so far away, or the kernel refused memory for the tables.
    bool open(std::size_t wanted, const TableSizes &sizes);
    // As open, but units are mapped one by one, and units that are returned leave holes. address_limit: the bytes that
    // the process may map.
    bool spread(std::size_t wanted, const TableSizes &sizes, std::size_t address_limit);
    // Returns all memory but units that were mapped one by one. Nothing in the region may be used any more.
    void unreserve();

    char *base() const { return base_; }
    char *readable_table() const { return readable_; }
    // All tables lie from here to the end of the range, but for the unit map and the readable table.
    char *fixed_table() const { return fixed_.begin(); }
    char *table(std::size_t which) const { return tables_[which].begin(); }
    std::uint32_t chunk_limit() const { return chunk_limit_; }
    UnitIndex first_unit() const { return first_unit_; }
    UnitIndex unit_at(ChunkIndex c) const { return UnitIndex(first_unit_.value + c.value * kUnitsPerChunk); }
    ChunkIndex chunk_of(UnitIndex u) const { return ChunkIndex((u.value - first_unit_.value) / kUnitsPerChunk); }

    UnitEntry &entry(UnitIndex u) const { return reinterpret_cast<UnitEntry *>(base_)[u.value]; }
    char *address(UnitIndex u) const { return base_ + (std::size_t{u.value} << kUnitShift); }

    // Units below this end have an entry and tables. They also have memory; in a scarce region only if they are mapped.
    UnitIndex unit_end() const { return UnitIndex(unit_end_.load(std::memory_order_relaxed)); }
    const std::atomic<std::uint32_t> *unit_end_cell() const { return &unit_end_; }
    std::uint32_t chunk_count() const { return (unit_end().value - first_unit_.value) / kUnitsPerChunk; }
    template <class Visit>
    void for_each_unit(ChunkIndex chunk, Visit visit) const {
        const UnitIndex first = unit_at(chunk);
        for (UnitIndex u = first; u < first + UnitCount(kUnitsPerChunk); ++u) visit(u);
    }
    // Whether the address lies below unit_end. In a scarce region that unit may be unmapped, or mapped by others.
    bool contains(const void *p) const { return unit_of(p).value < unit_end().value; }
    // The unit of an address. An address below the base wraps to a large index.
    UnitIndex unit_of(const void *p) const {
        const std::size_t unit =
            (reinterpret_cast<std::uintptr_t>(p) - reinterpret_cast<std::uintptr_t>(base_)) >> kUnitShift;
        return UnitIndex(unit > UINT32_MAX ? UINT32_MAX : static_cast<std::uint32_t>(unit));
    }

    // Gives a piece of the readable table writable memory. false: refused, the piece reads as zeroes as before.
    bool make_writable(char *piece, std::size_t bytes) const;

    // Commits everything that the first `chunks` chunks need. false: refused, nothing that matters changed.
    bool ensure_chunks(std::uint32_t chunks);

    // Commits the seldom used table for all chunks up to this one, which is committed already. false: refused.
    bool ensure_table(std::size_t which, ChunkIndex chunk) {
        return ensure(tables_[which], table_bytes_for(which, chunk));
    }

    // unit_end as an offset from the base, in steps of kFineStep.
    std::uint64_t fine_end() const { return (std::uint64_t{unit_end().value} << kUnitShift) / kFineStep; }
    // From now on *cell is fine_end: the restartable sequences read the cell.
    void publish_fine_end(std::uint64_t *cell) {
        published_fine_end_ = cell;
        *cell = fine_end();
    }

    bool is_scarce() const { return space() == Space::scarce; }
    // In a scarce region: a good part of the addresses that the process may have is in use here.
    bool is_crowded() const { return is_scarce() && reserved_bytes() > crowded_from_.load(std::memory_order_relaxed); }
    // For an open region when the kernel maps nothing more: it is scarce from now on, with all its units mapped. false:
    // the region is not open.
    bool become_scarce();
    // In a scarce region: maps memory for units that have none. false: the kernel refused, or somebody else has mapped
    // a part. Then nothing changed.
    bool map_units(UnitIndex first, UnitCount count);
    // Returns the units' memory and addresses. false: refused, nothing changed.
    bool unmap_units(UnitIndex first, UnitCount count);
    // Fewer units than these are not unmapped, because a process can have only a limited number of holes.
    UnitCount least_hole() const { return least_hole_; }
    // Whether huge pages may lie among the chunks from now on. Before the first call the kernel decides.
    void allow_huge_pages(bool allowed);

    // The bytes of the address range, and how many of them the kernel counts as the process's addresses.
    std::size_t range_bytes() const { return range_bytes_; }
    std::size_t reserved_bytes() const { return reserved_bytes_.load(std::memory_order_relaxed); }
    std::size_t metadata_bytes() const;
    // By how much metadata_bytes would grow by ensure_chunks, and by ensure_table.
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
    bool grows_with_chunks(std::size_t table) const { return table != seldom_used_; }
    std::uint32_t chunks_for(std::uint32_t chunks) const;
    std::size_t map_bytes_for(std::uint32_t chunks) const;
    std::size_t table_bytes_for(std::size_t which, ChunkIndex chunk) const;
    void lay_out(char *at, std::uint32_t chunks, const TableSizes &sizes);
    // address_limit: how many bytes the process may map.
    void adapt_to(std::size_t address_limit);

    char *reservation_ = nullptr;  // if there is one
    char *base_ = nullptr;         // a multiple of kChunkBytes
    CommittedPrefix unit_map_;
    char *readable_ = nullptr;
    std::size_t readable_bytes_ = 0;  // mapped bytes of the readable table; 0 for Space::reserved
    CommittedPrefix fixed_;
    std::array<CommittedPrefix, kGrowingTables> tables_;
    std::array<std::size_t, kGrowingTables> bytes_per_chunk_{};
    std::size_t seldom_used_ = SIZE_MAX;
    CommittedPrefix chunks_;
    UnitIndex first_unit_;
    std::uint32_t chunk_limit_ = 0;
    std::uint32_t committed_chunks_ = 0;
    // Relaxed, read without a lock: a thread got an address beyond an older value from the thread that stored the newer
    // value, and so sees the newer value.
    std::atomic<std::uint32_t> unit_end_{0};
    std::uint64_t *published_fine_end_ = nullptr;
    std::size_t range_bytes_ = 0;
    std::atomic<std::size_t> reserved_bytes_{0};  // statistics; relaxed
    UnitCount least_hole_{1};
    // Stored before space_, and read only in a scarce region; relaxed: a thread that reads an older value only uses more
    // addresses than necessary.
    std::atomic<std::size_t> crowded_from_{SIZE_MAX};
    // Relaxed: a thread that reads an older value only maps or retains a little more than necessary.
    std::atomic<Space> space_{Space::reserved};
    // Relaxed: read by threads that map units. The thread that changes the value advises the kernel about the units
    // that are mapped; one unit more or less does not matter.
    std::atomic<HugePagesAllowed> huge_pages_{HugePagesAllowed::unsaid};
};

}  // namespace gr
