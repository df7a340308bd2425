// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: what the collector of a running process knows.
// Invariant: see collector_snapshot.hpp. Every number that is read is bounded before it is used.
// Must not know: how the heaps of the kinds are read; how it is shown.
#include "reading/heap/collector_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/failure.hpp"
#include "reading/process/resident_ranges.hpp"

namespace gr::tool {

namespace {

constexpr std::uint32_t kMostRecords = 4096;

template <class Value>
Value value_of(std::uint64_t number) {
    return static_cast<Value>(std::min<std::uint64_t>(number, static_cast<std::uint64_t>(Value::unknown)));
}

class Reader {
  public:
    Reader(const ProcessMemory &memory, const std::vector<Mapping> &mappings, const FoundCollector &found)
        : memory_(memory), mappings_(mappings), t_(found.tables), file_(found.file) {}

    CollectorSnapshot take() {
        result_.accounted.resize(mappings_.size());
        take_last();
        for (const auto &record : records<gr_collected_kind>(t_.kinds_at, t_.kind_count_at)) take_kind(record);
        take_pace();
        take_memory();
        return std::move(result_);
    }

  private:
    template <class Record>
    Record read(std::uint64_t at) const {
        Record record{};
        if (!memory_.read(at, &record, sizeof record)) fail();
        return record;
    }
    [[noreturn]] void fail() const {
        throw Failure(ExitCode::tool_failure,
                      fmt::format("process {}: the tables of its collector, in {}, have been overwritten",
                                  memory_.process(), file_));
    }
    std::uint64_t number(std::uint64_t offset) const { return read<std::uint64_t>(t_.report_at + offset); }

    template <class Record>
    std::vector<Record> records(std::uint64_t at, std::uint64_t count_at) const {
        std::vector<Record> result(std::min(read<std::uint32_t>(count_at), kMostRecords));
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = read<Record>(at + i * sizeof(Record));
        return result;
    }

    void take_last() {
        result_.last = {.number = number(t_.number_offset),
                        .reason = value_of<Reason>(read<std::uint8_t>(t_.report_at + t_.reason_offset)),
                        .began = number(t_.began_offset),
                        .stopped = number(t_.stopped_offset),
                        .beside = number(t_.beside_offset),
                        .threads = number(t_.threads_offset),
                        .freed_blocks = number(t_.freed_blocks_offset),
                        .live_blocks = number(t_.live_blocks_offset),
                        .live_bytes = number(t_.live_bytes_offset)};
    }

    void take_kind(const gr_collected_kind &record) {
        const std::uint64_t kind = result_.kinds.size();
        const std::uint64_t left = t_.kinds_offset + kind * t_.kind_stride;
        result_.kinds.push_back({.number = kind,
                                 .heap_at = record.heap_at,
                                 .contents = value_of<Contents>(record.contents),
                                 .lifetime = value_of<Lifetime>(record.lifetime),
                                 .left_blocks = number(left),
                                 .left_bytes = number(left + sizeof(std::uint64_t))});
    }

    void take_pace() {
        result_.due_bytes = read<std::uint64_t>(t_.due_at);
        result_.is_disabled = read<std::int32_t>(t_.disabled_at) > 0 ||
                              (t_.dont_collect_at != 0 && read<std::int32_t>(t_.dont_collect_at) != 0);
        result_.is_automatic = read<std::uint8_t>(t_.automatic_at) != 0;
        result_.is_beside = read<std::uint8_t>(t_.beside_at) != 0;
        result_.retains_by_pace = read<std::uint8_t>(t_.retains_by_pace_at) != 0;
        if (t_.waiting_at == 0) return;
        result_.flags = {t_.narrow_flags_at, t_.wide_flags_at};
        result_.waiting_bytes = read<std::uint64_t>(t_.waiting_at);
        result_.waiting_due_bytes = read<std::uint64_t>(t_.waiting_due_at);
    }

    void take_memory() {
        std::array<std::vector<ByteRange>, kCollectorMemories> ranges;
        for (const auto &piece : records<gr_collector_memory>(t_.memory_at, t_.memory_count_at)) {
            const auto begin = read<std::uint64_t>(piece.begin_at);
            const auto count = read<std::uint64_t>(piece.count_at);
            if (begin == 0 || piece.use - 1 >= ranges.size()) continue;
            if (piece.element_bytes != 0 && count > (UINT64_MAX - begin) / piece.element_bytes) fail();
            ranges[piece.use - 1].push_back({begin, begin + count * piece.element_bytes});
        }
        for (std::size_t use = 0; use < ranges.size(); ++use)
            result_.memory[use] = take_resident(memory_, mappings_, std::move(ranges[use]), &result_.accounted);
    }

    const ProcessMemory &memory_;
    const std::vector<Mapping> &mappings_;
    const gr_collector_tables &t_;
    const std::string &file_;
    CollectorSnapshot result_;
};

}  // namespace

CollectorSnapshot take_snapshot(const ProcessMemory &memory, const std::vector<Mapping> &mappings,
                                const FoundCollector &found) {
    return Reader(memory, mappings, found).take();
}

std::string description(const Kind &kind) {
    constexpr std::array kContents{"pointer-free",
                                   "scanned",
                                   "scanned by one layout",
                                   "scanned by a procedure",
                                   "scanned by each block's own layout",
                                   "of contents unknown to this command"};
    constexpr std::array kLifetimes{"", ", kept until freed", "", "", ""};
    return fmt::format("{}{}", kContents[static_cast<std::size_t>(kind.contents)],
                       kLifetimes[static_cast<std::size_t>(kind.lifetime)]);
}

}  // namespace gr::tool
