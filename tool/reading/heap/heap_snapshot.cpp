// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the walk over the tables of a heap in another process.
// Invariant: see heap_snapshot.hpp. Every number that is read is bounded before it is used.
// Must not know: how it is shown.
#include "reading/heap/heap_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "base/failure.hpp"
#include "reading/process/resident_ranges.hpp"

namespace gr::tool {

namespace {

constexpr std::uint64_t kUnitsAtOnce = 1024;
constexpr std::uint64_t kMostUnits = std::uint64_t{1} << 28;  // that a heap can have used
constexpr std::uint64_t kWordBits = 64;
constexpr std::uint64_t kMostDirectEntries = 1 << 20;  // in any layout

struct ClassShape {
    std::uint32_t block_bytes = 0;
    std::uint32_t blocks = 0;
    std::uint32_t units = 0;
};
constexpr ClassShape kNoClass;

template <class Number>
Number number_at(const std::vector<char> &record, std::uint64_t offset) {
    Number number{};
    std::memcpy(&number, record.data() + offset, sizeof number);
    return number;
}

class Walk {
  public:
    Walk(const ProcessMemory &memory, const std::vector<Mapping> &mappings, const gr_heap_tables &tables,
         const WaitingFlags &waiting)
        : memory_(memory), mappings_(mappings), t_(tables), waiting_(waiting) {}

    HeapSnapshot take() {
        result_.unit_bytes = t_.unit_bytes;
        result_.accounted.resize(mappings_.size());
        result_.retain_bytes = t_.retain_bytes;
        result_.retain_parts = std::max<std::uint64_t>(t_.retain_parts, 1);
        result_.magazine_bytes = t_.magazine_bytes;
        result_.reuse_bytes = number_at<std::uint64_t>(read(t_.reuse_at, 8), 0);
        result_.absent_bytes = number_at<std::uint64_t>(read(t_.absent_at, 8), 0);
        result_.reuse_since = number_at<std::uint64_t>(read(t_.reuse_since_at, 8), 0);
        take_direct();
        if (t_.region_bytes != 0) take_region();
        return std::move(result_);
    }

  private:
    [[noreturn]] void fail_changed() const {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("process {}: the tables of its heap cannot be read; they have been overwritten",
                                  memory_.process()));
    }
    std::vector<char> read(std::uint64_t address, std::uint64_t bytes) const {
        std::vector<char> result(bytes);
        if (!memory_.read(address, result.data(), bytes)) fail_changed();
        return result;
    }
    std::vector<char> read_touched(std::uint64_t address, std::uint64_t bytes) const {
        std::vector<char> result(bytes);
        if (!memory_.read_touched(address, result.data(), bytes)) fail_changed();
        return result;
    }
    std::uint64_t address_of_unit(std::uint64_t unit) const {
        return t_.region_begin + (t_.first_unit + unit) * t_.unit_bytes;
    }

    void take_region() {
        const auto end = number_at<std::uint32_t>(read(t_.unit_end_at, 4), 0);
        const std::uint64_t limit = t_.region_bytes / t_.unit_bytes;
        if (t_.first_unit > end || end > limit || end > kMostUnits) fail_changed();
        units_ = end - t_.first_unit;
        read_residency();
        shapes_.resize(t_.class_count);
        result_.classes.resize(t_.class_count);
        read_cached();
        for (std::uint64_t unit = 0; unit < units_;) unit = take_units(unit, std::min(units_, unit + kUnitsAtOnce));
        std::erase_if(result_.classes, [](const ClassSummary &c) { return c.superblocks == 0; });
    }

    // Every mapping of the region is either one of tables, or one of blocks, the first of which the kernel may have merged
    // with its neighbours. They come in ascending order.
    void read_residency() {
        const std::uint64_t heap = address_of_unit(0);
        const std::uint64_t region_end = t_.region_begin + t_.region_bytes;
        for (std::size_t i = 0; i < mappings_.size(); ++i) {
            const Mapping &mapping = mappings_[i];
            if (mapping.begin >= region_end || mapping.end <= t_.region_begin || mapping.resident == 0) continue;
            const bool before = mapping.begin >= t_.region_begin && mapping.end <= heap;
            const bool behind = mapping.begin >= t_.tables_at && mapping.end <= region_end;
            if (before || behind) {
                result_.table_resident += static_cast<double>(mapping.resident);
                result_.accounted[i] = static_cast<double>(mapping.resident);
                continue;
            }
            Pages pages = memory_.pages(mapping);
            result_.table_resident += pages.resident(t_.region_begin, heap) + pages.resident(t_.tables_at, region_end);
            result_.accounted[i] += pages.resident(t_.region_begin, region_end);
            pages_.push_back(std::move(pages));
        }
    }

    // Of a class that has superblocks, so that the process has read the same bytes before. Without blocks: no class.
    const ClassShape &shape_of(std::uint32_t c) {
        if (c >= shapes_.size()) return kNoClass;
        if (!shapes_[c]) {
            const std::vector<char> record = read(t_.classes_at + c * t_.class_stride, t_.class_stride);
            const ClassShape shape{number_at<std::uint32_t>(record, t_.block_bytes_offset),
                                   number_at<std::uint32_t>(record, t_.blocks_offset),
                                   number_at<std::uint32_t>(record, t_.superblock_units_offset)};
            const std::uint64_t most_blocks = std::max(t_.narrow_words, t_.wide_words) * kWordBits;
            const std::uint64_t bytes = std::uint64_t{shape.blocks} * shape.block_bytes;
            const bool sound =
                shape.units != 0 && shape.blocks <= most_blocks && bytes <= std::uint64_t{shape.units} * t_.unit_bytes;
            shapes_[c] = sound ? shape : kNoClass;
            result_.classes[c].block_bytes = shapes_[c]->block_bytes;
        }
        return *shapes_[c];
    }

    // The addresses of all blocks that lie in magazines and messages.
    void read_cached() {
        const std::uint64_t heaps = number_at<std::uint32_t>(read(t_.heaps_at, 4), 0);
        result_.heaps = std::min(heaps, t_.heap_limit);
        for (std::uint64_t heap = 0; heap < result_.heaps; ++heap) {
            const std::vector<char> slab = read_touched(t_.slabs_at + heap * t_.slab_bytes, t_.slab_bytes);
            for (std::uint64_t m = 0; m < t_.magazines; ++m) {
                const std::uint64_t header = m * t_.magazine_stride;
                const auto next = number_at<std::uint32_t>(slab, header);
                const std::uint32_t begin = number_at<std::uint16_t>(slab, header + 6);
                const std::uint32_t first = std::min(begin, next);
                add_cached(slab, header + t_.slots_offset + first * sizeof(std::uint64_t),
                           std::max(begin, next) - first);
            }
            for (std::uint64_t l = 0; l < t_.messages; ++l) {
                const std::uint64_t message = t_.messages_offset + l * t_.message_stride;
                const auto count = number_at<std::uint32_t>(slab, message + t_.message_count_offset);
                const std::uint64_t room = (t_.message_stride - t_.message_blocks_offset) / sizeof(std::uint64_t);
                add_cached(slab, message + t_.message_blocks_offset,
                           static_cast<std::int64_t>(std::min<std::uint64_t>(count, room)));
            }
        }
        std::ranges::sort(cached_);
    }

    void add_cached(const std::vector<char> &slab, std::uint64_t at, std::int64_t count) {
        for (; count > 0 && at + sizeof(std::uint64_t) <= slab.size(); --count, at += sizeof(std::uint64_t)) {
            cached_.push_back(number_at<std::uint64_t>(slab, at));
        }
    }

    // Takes what begins in [unit, end); where it ended.
    std::uint64_t take_units(std::uint64_t unit, std::uint64_t end) {
        const std::uint64_t first = unit;
        const std::uint64_t count = end - first;
        const std::vector<char> descriptors =
            read_touched(t_.descriptors_at + first * t_.descriptor_stride, count * t_.descriptor_stride);
        const Bitmaps narrow = read_bitmaps(t_.narrow_at, t_.narrow_words, first, count);
        const Bitmaps wide = read_bitmaps(t_.wide_at, t_.wide_words, first, count);
        const Flags narrow_flags = read_flags(waiting_.narrow_at, t_.narrow_words, first, count);
        const Flags wide_flags = read_flags(waiting_.wide_at, t_.wide_words, first, count);
        while (unit < end) {
            const std::uint64_t at = (unit - first) * t_.descriptor_stride;
            const auto use = number_at<std::uint8_t>(descriptors, at + t_.use_offset);
            const auto c = number_at<std::uint32_t>(descriptors, at + t_.class_offset);
            const auto run_units = number_at<std::uint32_t>(descriptors, at + t_.units_offset);
            const ClassShape &shape = use == GR_USE_SUPERBLOCK ? shape_of(c) : kNoClass;
            if (shape.blocks != 0 && shape.units <= units_ - unit) {
                const bool is_narrow = shape.blocks <= t_.narrow_words * kWordBits;
                take_superblock(unit, c, is_narrow ? narrow : wide, is_narrow ? narrow_flags : wide_flags,
                                unit - first);
                const auto owner = number_at<std::uint32_t>(descriptors, at + t_.owner_offset);
                result_.global_superblocks += owner >= t_.heap_limit ? 1 : 0;
                unit += shape.units;
            } else if (use == GR_USE_RUN && run_units != 0 && run_units <= units_ - unit) {
                const Part part = narrow_flags.test(unit - first, 0) ? Part::waiting : Part::live;
                const auto tail_pages = number_at<std::uint16_t>(descriptors, at + t_.tail_offset);
                take_run(unit, run_units, part, tail_pages * t_.tail_page_bytes);
                count_block(part);
                unit += run_units;
            } else {
                take_plain(unit, 1, Part::empty);
                unit += 1;
            }
        }
        return unit;
    }

    struct Bitmaps {
        std::vector<char> words;
        std::uint64_t per_bitmap;
        // which: 0 is free, 1 freed by strangers.
        bool test(std::uint64_t unit, std::uint64_t which, std::uint64_t block) const {
            const std::uint64_t word = (unit * 2 + which) * per_bitmap + block / kWordBits;
            return (number_at<std::uint64_t>(words, word * sizeof(std::uint64_t)) >> block % kWordBits & 1) != 0;
        }
    };

    Bitmaps read_bitmaps(std::uint64_t table, std::uint64_t words, std::uint64_t first, std::uint64_t count) const {
        const std::uint64_t unit_bytes = 2 * words * sizeof(std::uint64_t);
        return {read_touched(table + first * unit_bytes, count * unit_bytes), words};
    }

    // A byte for each block, or none at all.
    struct Flags {
        std::vector<char> bytes;
        std::uint64_t per_unit;
        bool test(std::uint64_t unit, std::uint64_t block) const {
            return !bytes.empty() && bytes[unit * per_unit + block] != 0;
        }
    };

    Flags read_flags(std::uint64_t table, std::uint64_t words, std::uint64_t first, std::uint64_t count) const {
        const std::uint64_t unit_bytes = words * kWordBits;
        if (table == 0) return {{}, unit_bytes};
        return {read_touched(table + first * unit_bytes, count * unit_bytes), unit_bytes};
    }

    void count_block(Part part) {
        result_.live_blocks += part == Part::live ? 1 : 0;
        result_.waiting_blocks += part == Part::waiting ? 1 : 0;
    }

    double resident(std::uint64_t from, std::uint64_t to) const {
        double bytes = 0;
        auto pages = std::ranges::partition_point(pages_, [from](const Pages &p) { return p.end() <= from; });
        for (; pages != pages_.end() && pages->begin < to; ++pages) bytes += pages->resident(from, to);
        return bytes;
    }

    void take_superblock(std::uint64_t unit, std::uint32_t c, const Bitmaps &bitmaps, const Flags &flags,
                         std::uint64_t index) {
        const ClassShape &shape = shape_of(c);
        const std::uint64_t begin = address_of_unit(unit);
        const std::uint64_t end = begin + shape.units * t_.unit_bytes;
        ClassSummary &summary = result_.classes[c];
        Span span{unit, shape.units, shape.block_bytes, {}};
        auto next_cached = std::ranges::lower_bound(cached_, begin);
        std::uint64_t address = begin;
        for (std::uint32_t block = 0; block < shape.blocks; ++block, address += shape.block_bytes) {
            while (next_cached != cached_.end() && *next_cached < address) ++next_cached;
            const bool cached = next_cached != cached_.end() && *next_cached == address;
            const Part part = bitmaps.test(index, 0, block)   ? Part::free
                              : bitmaps.test(index, 1, block) ? Part::remote
                              : cached                        ? Part::cached
                              : flags.test(index, block)      ? Part::waiting
                                                              : Part::live;
            add(&span, part, address, address + shape.block_bytes);
            summary.live_blocks += part == Part::live ? 1 : 0;
            count_block(part);
        }
        add(&span, Part::tail, address, end);
        summary.superblocks += 1;
        summary.blocks += shape.blocks;
        for (std::size_t i = 0; i < kParts; ++i) summary.amounts[i] += span.amounts[i];
        result_.superblocks += 1;
        finish(span);
    }

    // The tail is no part of the block.
    void take_run(std::uint64_t unit, std::uint64_t units, Part part, std::uint64_t tail) {
        Span span{unit, units, 0, {}};
        const std::uint64_t end = address_of_unit(unit + units);
        const std::uint64_t block_end = tail < units * t_.unit_bytes ? end - tail : end;
        add(&span, part, address_of_unit(unit), block_end);
        if (block_end < end) add(&span, Part::tail, block_end, end);
        finish(span);
    }

    void take_plain(std::uint64_t unit, std::uint64_t units, Part part) {
        Span span{unit, units, 0, {}};
        add(&span, part, address_of_unit(unit), address_of_unit(unit + units));
        finish(span);
    }

    void add(Span *span, Part part, std::uint64_t from, std::uint64_t to) const {
        span->amounts[static_cast<std::size_t>(part)] += {to - from, resident(from, to)};
    }

    // Units that are empty and not in memory are one span, however many they are.
    void finish(const Span &span) {
        const auto is_absent = [](const Span &one) {
            return std::ranges::all_of(one.amounts, [](const Amount &a) { return a.resident == 0; }) &&
                   amount(one.amounts, Part::empty).bytes != 0;
        };
        for (std::size_t i = 0; i < kParts; ++i) result_.amounts[i] += span.amounts[i];
        if (!result_.spans.empty() && is_absent(span) && is_absent(result_.spans.back())) {
            result_.spans.back().units += span.units;
            result_.spans.back().amounts[static_cast<std::size_t>(Part::empty)] += amount(span.amounts, Part::empty);
            return;
        }
        result_.spans.push_back(span);
    }

    void take_direct() {
        std::vector<ByteRange> direct;
        if (number_at<std::uint64_t>(read(t_.direct_count_at, 8), 0) == 0) return;
        const auto entries = number_at<std::uint64_t>(read(t_.direct_entries_at, 8), 0);
        if (entries > kMostDirectEntries) fail_changed();
        const auto begin = number_at<std::uint64_t>(read(t_.direct_table_at, 8), 0);
        const std::vector<char> table = read_touched(begin, entries * t_.direct_stride);
        for (std::uint64_t entry = 0; entry < table.size(); entry += t_.direct_stride) {
            const auto address = number_at<std::uint64_t>(table, entry);
            const auto bytes = number_at<std::uint64_t>(table, entry + sizeof(std::uint64_t));
            const auto mapper = number_at<std::uint64_t>(table, entry + t_.direct_mapper_offset);
            if (address < ProcessMemory::page_bytes() || mapper != t_.direct_mapper) continue;
            if (bytes > UINT64_MAX - address) fail_changed();
            result_.live_blocks += 1;
            result_.direct.bytes += bytes;
            direct.push_back({address, address + bytes});
        }
        result_.direct.resident = take_resident(memory_, mappings_, std::move(direct), &result_.accounted);
    }

    const ProcessMemory &memory_;
    const std::vector<Mapping> &mappings_;
    const gr_heap_tables &t_;
    const WaitingFlags &waiting_;
    HeapSnapshot result_;
    std::uint64_t units_ = 0;
    std::vector<Pages> pages_;
    std::vector<std::optional<ClassShape>> shapes_;
    std::vector<std::uint64_t> cached_;
};

}  // namespace

HeapSnapshot take_snapshot(const ProcessMemory &memory, const std::vector<Mapping> &mappings,
                           const gr_heap_tables &tables, const WaitingFlags &waiting) {
    return Walk(memory, mappings, tables, waiting).take();
}

}  // namespace gr::tool
