// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "collector/in_use_scan.hpp"

#include <bit>

namespace gr {
namespace {

// Between two smaller blocks in use, the blocks that are not in use are scanned, too.
constexpr std::size_t kWorthAlone = 512;

// Calls visit(first, end) for each row of neighbouring blocks, of those that one word of a bitmap names.
template <class Visit>
void for_each_row(Word bits, std::size_t size, Visit visit) {
    while (bits != 0) {
        const auto first = static_cast<unsigned>(std::countr_zero(bits));
        const auto above = static_cast<unsigned>(std::countl_zero(bits));
        const auto together = static_cast<unsigned>(std::countr_one(bits >> first));
        const unsigned last = size < kWorthAlone ? kWordBits - 1 - above : first + together - 1;
        visit(first, last + 1);
        bits = last + 1 == kWordBits ? 0 : bits >> (last + 1) << (last + 1);
    }
}

const char *lower(const char *a, const char *b) { return a < b ? a : b; }
const char *higher(const char *a, const char *b) { return a < b ? b : a; }

void scan_superblock(Marker &marker, const Superblocks &superblocks, const Superblock *s, platform::Range part,
                     InUse in_use) {
    const std::size_t size = s->shape().size;
    const char *const begin = superblocks.begin(s);
    const auto word_at = [&](const char *p) {
        return static_cast<std::uint32_t>(static_cast<std::size_t>(p - begin) / size / kWordBits);
    };
    const std::uint32_t last = word_at(part.end - 1);
    for (std::uint32_t w = word_at(part.begin); w <= last && w < s->shape().words; ++w) {
        const char *const first = begin + std::size_t{w} * kWordBits * size;
        for_each_row(in_use(s, w), size, [&](std::size_t from, std::size_t to) {
            const platform::Range row{higher(first + from * size, part.begin), lower(first + to * size, part.end)};
            if (row.begin < row.end) marker.scan(row);
        });
    }
}

}  // namespace

void scan_in_use(Marker &marker, const Kind &kind, InUse in_use, platform::Range range) {
    const Region &region = kind.instance.region();
    if (!region.contains(range.begin)) return marker.scan(range);
    while (!range.is_empty()) {
        const UnitIndex unit = region.unit_of(range.begin);
        const Superblock *const s = kind.instance.superblocks().head(unit);
        const bool is_superblock = s->use == UnitUse::superblock;
        const UnitIndex behind = is_superblock ? s->unit + s->units : unit + UnitCount(1);
        const platform::Range part{range.begin, lower(region.address(behind), range.end)};
        if (is_superblock) {
            scan_superblock(marker, kind.instance.superblocks(), s, part, in_use);
        } else if (s->use != UnitUse::unused) {
            marker.scan(part);
        }
        range.begin = part.end;
    }
}

}  // namespace gr
