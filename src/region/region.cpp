// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "region/region.hpp"

#include "base/check.hpp"
#include "platform/loader.hpp"
#include "platform/memory.hpp"
#include "platform/public_names.hpp"

namespace gr {
namespace {

constexpr std::size_t kTableStep = 64 * kKiB;
constexpr std::uint32_t kChunkStepDivisor = 16;  // a step is one part in so many of the committed chunks
constexpr std::uint32_t kMinChunkStep = 1;
constexpr std::uint32_t kMaxChunkStep = 16;
constexpr std::uint32_t kSettleParts = 64;  // tables take one or two parts of the place
constexpr std::size_t kMapBytesPerChunk = kUnitsPerChunk * sizeof(UnitEntry);

struct Offsets {
    std::size_t readable = 0;
    std::size_t fixed = 0;
    std::array<std::size_t, kGrowingTables> tables{};
    std::size_t chunks = 0;
    std::size_t end = 0;
};

Offsets offsets_for(std::uint32_t chunks, const TableSizes &sizes) {
    Offsets o;
    // The map covers its own units and those of the readable table, too. Their entries stay 0, so that a free of an
    // address there is rejected. The other tables lie behind the chunks, so that the map need not cover them.
    const std::size_t map_bytes = kMapBytesPerChunk * chunks;
    const std::size_t units_before = divide_up(sizes.readable_bytes + map_bytes * 2 + 2 * kChunkBytes, kUnitBytes);
    o.readable = align_up(map_bytes + units_before * sizeof(UnitEntry), kTableStep);
    o.chunks = align_up(o.readable + sizes.readable_bytes, kChunkBytes);
    o.fixed = o.chunks + chunks * kChunkBytes;
    std::size_t next = o.fixed + align_up(sizes.fixed_bytes, kTableStep);
    for (std::size_t i = 0; i < sizes.bytes_per_chunk.size(); ++i) {
        o.tables[i] = next;
        next = align_up(next + sizes.bytes_per_chunk[i] * chunks, kTableStep);
    }
    o.end = align_up(next, kChunkBytes);
    return o;
}

// The chunks for which a place has room, beside their tables; 0: for none.
std::uint32_t chunks_within(std::size_t bytes, const TableSizes &sizes) {
    auto chunks = static_cast<std::uint32_t>((bytes < kRegionMaxBytes ? bytes : kRegionMaxBytes) >> kChunkShift);
    while (chunks != 0 && offsets_for(chunks, sizes).end + kChunkBytes > bytes)
        chunks -= static_cast<std::uint32_t>(divide_up(chunks, kSettleParts));
    return chunks;
}

UnitCount least_hole_under(std::size_t address_limit) {
    return UnitCount(static_cast<std::uint32_t>(divide_up(address_limit / kMostHoles, kUnitBytes)));
}

// Whether no other range of about this size overlaps this one: nothing is mapped from one size below it to its end.
bool is_alone(char *at, std::size_t bytes) {
    return reinterpret_cast<std::uintptr_t>(at) > bytes && platform::is_unmapped(at - bytes, bytes * 2);
}

}  // namespace

bool CommittedPrefix::ensure(std::size_t bytes, std::size_t step) {
    if (bytes <= committed_) return true;
    const std::size_t target = target_for(bytes, step);
    if (target < bytes) return false;
    char *const begin = begin_ + committed_;
    const std::size_t more = target - committed_;
    const bool done = space_ == Space::reserved ? platform::commit(begin, more)
                                                : platform::map_at(begin, more, platform::Access::write);
    if (done) committed_ = target;
    return done;
}

void CommittedPrefix::unmap() {
    if (committed_ != 0) platform::unmap(begin_, committed_);
    committed_ = 0;
}

bool Region::reserve(std::size_t wanted, const TableSizes &sizes) {
    for (std::size_t bytes = align_up(wanted, kChunkBytes); bytes >= kRegionMinBytes;
         bytes = align_down(bytes / 2, kChunkBytes)) {
        const auto chunks = static_cast<std::uint32_t>(bytes >> kChunkShift);
        const std::size_t total = offsets_for(chunks, sizes).end;
        reservation_ = static_cast<char *>(platform::reserve(total + kChunkBytes));
        if (reservation_ == nullptr) continue;
        space_.store(Space::reserved, std::memory_order_relaxed);
        reserved_bytes_.store(total + kChunkBytes, std::memory_order_relaxed);
        lay_out(reservation_, chunks, sizes);
        if (commit_start(sizes)) return true;
        unreserve();
    }
    return false;
}

bool Region::settle(char *place, std::size_t bytes, const TableSizes &sizes) {
    const std::uint32_t chunks = chunks_within(bytes, sizes);
    if (chunks == 0) return false;
    space_.store(Space::reserved, std::memory_order_relaxed);
    lay_out(place, chunks, sizes);
    return commit_start(sizes);
}

bool Region::spread_within(char *place, std::size_t bytes, const TableSizes &sizes, std::size_t address_limit) {
    const std::uint32_t chunks = chunks_within(bytes, sizes);
    if (chunks == 0) return false;
    adapt_to(address_limit);
    space_.store(Space::scarce, std::memory_order_relaxed);
    lay_out(place, chunks, sizes);
    if (commit_start(sizes)) return true;
    unreserve();
    return false;
}

// How far the range lies from where the kernel puts mappings: so far that the kernel has room for all other mappings.
// nearest is for machines with fewer addresses.
struct Region::Distances {
    std::size_t farthest;
    std::size_t nearest;
};

// Above the mappings if there is not enough room below: some emulators put mappings low, one above the other.
bool Region::open(std::size_t wanted, const TableSizes &sizes) {
    constexpr Distances kDistances = {.farthest = 16 * kTiB, .nearest = 4 * kTiB};
    constexpr Distances kPrefixed = {.farthest = 64 * kTiB, .nearest = 64 * kTiB};
    if (platform::is_prefixed()) return take_far(wanted, sizes, Space::open, kPrefixed, Side::below);
    return take_far(wanted, sizes, Space::open, kDistances, Side::below) ||
           take_far(wanted, sizes, Space::open, kDistances, Side::above);
}

// The limit lets the process map little, so the range may lie nearer to the mappings.
bool Region::spread(std::size_t wanted, const TableSizes &sizes, std::size_t address_limit) {
    constexpr Distances kDistances = {.farthest = kTiB, .nearest = 4 * kGiB};
    constexpr Distances kPrefixed = {.farthest = 4 * kTiB, .nearest = 4 * kTiB};
    static_assert(kScarceLimit * kScarceRangePerByte + kDistances.farthest < kPrefixed.nearest,
                  "a spread region ends below the place of prefixed libraries");
    adapt_to(address_limit);
    return take_far(wanted, sizes, Space::scarce, platform::is_prefixed() ? kPrefixed : kDistances, Side::below);
}

// A process may have libgranary and libgranary-prefixed, the archive of the latter in many of its libraries, and a
// libgranary in each namespace (dlmopen). Ranges are not reserved, so those of two libraries must not overlap.
// libgranary-prefixed has distances of its own. All but the libgranary of the first namespace take a place only if no
// other range lies near it. If there is no such place, the range is reserved (Space::reserved).
bool Region::take_far(std::size_t bytes, const TableSizes &sizes, Space which, const Distances &distances, Side side) {
    constexpr std::size_t kNearer = 4;
    const auto chunks = static_cast<std::uint32_t>(divide_up(bytes, kChunkBytes));
    const std::size_t total = offsets_for(chunks, sizes).end + kChunkBytes;
    const bool may_be_near = !platform::is_prefixed() && platform::is_in_first_namespace();
    space_.store(which, std::memory_order_relaxed);
    for (std::size_t distance = distances.farthest; distance >= distances.nearest; distance /= kNearer) {
        char *const at = side == Side::below ? platform::far_below_mappings(total + distance)
                                             : platform::far_above_mappings(distance);
        if (at == nullptr || (!may_be_near && !is_alone(at, total))) continue;
        lay_out(at, chunks, sizes);
        if (commit_start(sizes)) return true;
        unreserve();
    }
    space_.store(Space::reserved, std::memory_order_relaxed);
    return false;
}

bool Region::commit_start(const TableSizes &sizes) {
    const std::size_t readable = align_up(sizes.readable_bytes, kUnitBytes);
    if (space() == Space::reserved) {
        if (!platform::make_readable(readable_, sizes.readable_bytes)) return false;
    } else if (platform::map_at(readable_, readable, platform::Access::read)) {
        readable_bytes_ = readable;
        reserved_bytes_.fetch_add(readable, std::memory_order_relaxed);
    } else {
        return false;
    }
    return ensure(fixed_, sizes.fixed_bytes) && ensure_chunks(1);
}

void Region::unreserve() {
    if (space() == Space::reserved) {
        if (reservation_ != nullptr) platform::unmap(reservation_, reserved_bytes());
    } else {
        if (readable_bytes_ != 0) platform::unmap(readable_, readable_bytes_);
        unit_map_.unmap();
        fixed_.unmap();
        for (CommittedPrefix &table : tables_) table.unmap();
        chunks_.unmap();
    }
    reservation_ = base_ = nullptr;
    readable_bytes_ = range_bytes_ = 0;
    reserved_bytes_.store(0, std::memory_order_relaxed);
    unit_end_.store(0, std::memory_order_relaxed);
}

void Region::lay_out(char *at, std::uint32_t chunks, const TableSizes &sizes) {
    const Offsets o = offsets_for(chunks, sizes);
    base_ = reinterpret_cast<char *>(align_up(reinterpret_cast<std::uintptr_t>(at), kChunkBytes));
    range_bytes_ = o.end;
    unit_map_ = CommittedPrefix(base_, o.readable, space());
    readable_ = base_ + o.readable;
    fixed_ = CommittedPrefix(base_ + o.fixed, align_up(sizes.fixed_bytes, kTableStep), space());
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        const std::size_t bytes = align_up(sizes.bytes_per_chunk[i] * chunks, kTableStep);
        tables_[i] = CommittedPrefix(base_ + o.tables[i], bytes, space());
    }
    bytes_per_chunk_ = sizes.bytes_per_chunk;
    seldom_used_ = sizes.seldom_used;
    chunks_ = CommittedPrefix(base_ + o.chunks, chunks * kChunkBytes, space());
    first_unit_ = UnitIndex(static_cast<std::uint32_t>(o.chunks >> kUnitShift));
    chunk_limit_ = chunks;
    committed_chunks_ = 0;
}

// At least one step more than is committed, so that there are few steps.
std::uint32_t Region::chunks_for(std::uint32_t chunks) const {
    std::uint32_t step = committed_chunks_ / kChunkStepDivisor;
    step = step < kMinChunkStep ? kMinChunkStep : step > kMaxChunkStep ? kMaxChunkStep : step;
    const std::uint32_t target = committed_chunks_ + step < chunks ? chunks : committed_chunks_ + step;
    return target > chunk_limit_ ? chunk_limit_ : target;
}

// The map's index is the unit's number, counted from the base. The entries of units before the first chunk are unused.
std::size_t Region::map_bytes_for(std::uint32_t chunks) const {
    return (first_unit_.value + std::size_t{chunks} * kUnitsPerChunk) * sizeof(UnitEntry);
}

std::size_t Region::metadata_growth(std::uint32_t chunks) const {
    if (chunks <= committed_chunks_ || chunks > chunk_limit_) return 0;
    const std::uint32_t target = chunks_for(chunks);
    std::size_t total = unit_map_.growth(map_bytes_for(target), kTableStep);
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        if (grows_with_chunks(i)) total += tables_[i].growth(bytes_per_chunk_[i] * target, kTableStep);
    }
    return total;
}

std::size_t Region::table_growth(std::size_t which, ChunkIndex chunk) const {
    return tables_[which].growth(table_bytes_for(which, chunk), kTableStep);
}

// Bytes of the seldom used table. All chunks have it if one has, so that it grows in as few steps as the chunks; not in a
// scarce region, where every page counts. None is needed if the table covers this chunk already.
std::size_t Region::table_bytes_for(std::size_t which, ChunkIndex chunk) const {
    const std::size_t least = bytes_per_chunk_[which] * (chunk.value + 1);
    return is_scarce() || least <= tables_[which].committed() ? least : bytes_per_chunk_[which] * committed_chunks_;
}

// If the kernel refuses a whole step, it may still grant what was asked for. At the start this is not tried, because
// the caller tries another place or a smaller region.
bool Region::ensure_chunks(std::uint32_t chunks) {
    if (chunks <= committed_chunks_) return true;
    if (chunks > chunk_limit_) return false;
    const std::uint32_t target = chunks_for(chunks);
    return extend_to(target) || (committed_chunks_ != 0 && target != chunks && extend_to(chunks));
}

bool Region::extend_to(std::uint32_t chunks) {
    if (!ensure(unit_map_, map_bytes_for(chunks))) return false;
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        if (grows_with_chunks(i) && !ensure(tables_[i], bytes_per_chunk_[i] * chunks)) return false;
    }
    if (!is_scarce() && !ensure_memory(chunks)) return false;
    committed_chunks_ = chunks;
    unit_end_.store(first_unit_.value + chunks * kUnitsPerChunk, std::memory_order_relaxed);
    if (published_fine_end_ != nullptr) *published_fine_end_ = fine_end();
    return true;
}

bool Region::ensure_memory(std::uint32_t chunks) {
    char *const more = chunks_.begin() + chunks_.committed();
    const std::size_t bytes = chunks * kChunkBytes - chunks_.committed();
    if (!chunks_.ensure(chunks * kChunkBytes, kChunkBytes)) return false;
    if (space() == Space::reserved) return true;
    advise(more, bytes);
    reserved_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return true;
}

// The kernel applies advice on huge pages only to mappings that exist, so each new mapping is advised again.
void Region::advise(char *begin, std::size_t bytes) const {
    const HugePagesAllowed huge_pages = huge_pages_.load(std::memory_order_relaxed);
    if (huge_pages != HugePagesAllowed::unsaid)
        platform::allow_huge_pages(begin, bytes, huge_pages == HugePagesAllowed::yes);
}

// Commits the start of a table or of the unit map.
bool Region::ensure(CommittedPrefix &prefix, std::size_t bytes) {
    const std::size_t before = prefix.committed();
    if (!prefix.ensure(bytes, kTableStep)) return false;
    if (space_ != Space::reserved) reserved_bytes_.fetch_add(prefix.committed() - before, std::memory_order_relaxed);
    return true;
}

bool Region::make_writable(char *piece, std::size_t bytes) const {
    return space() == Space::reserved ? platform::commit(piece, bytes) : platform::make_writable_at(piece, bytes);
}

void Region::adapt_to(std::size_t address_limit) {
    least_hole_ = least_hole_under(address_limit);
    crowded_from_.store(address_limit / kCrowdedParts, std::memory_order_relaxed);
}

bool Region::become_scarce() {
    if (space() != Space::open) return false;
    adapt_to(reserved_bytes());
    space_.store(Space::scarce, std::memory_order_relaxed);
    return true;
}

bool Region::map_units(UnitIndex first, UnitCount count) {
    const std::size_t bytes = std::size_t{count.value} * kUnitBytes;
    if (!platform::map_at(address(first), bytes, platform::Access::write)) return false;
    advise(address(first), bytes);
    reserved_bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return true;
}

bool Region::unmap_units(UnitIndex first, UnitCount count) {
    const std::size_t bytes = std::size_t{count.value} * kUnitBytes;
    if (!platform::unmap_at(address(first), bytes)) return false;
    reserved_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return true;
}

// In a scarce region the advice covers the whole range and reaches the units that are mapped. It would also reach
// mappings of others in the range, but there are none.
void Region::allow_huge_pages(bool allowed) {
    huge_pages_.store(allowed ? HugePagesAllowed::yes : HugePagesAllowed::no, std::memory_order_relaxed);
    advise(address(first_unit_), space() == Space::open ? chunks_.committed() : chunk_limit_ * kChunkBytes);
}

std::size_t Region::metadata_bytes() const {
    std::size_t total = unit_map_.committed() + fixed_.committed();
    for (const CommittedPrefix &table : tables_) total += table.committed();
    return total;
}

}  // namespace gr
