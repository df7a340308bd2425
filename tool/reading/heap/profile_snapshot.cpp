// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reading/heap/profile_snapshot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "base/failure.hpp"

namespace gr::tool {

namespace {

constexpr std::uint64_t kMostSites = 1 << 24;  // of any library
constexpr std::uint64_t kMostCalls = 1 << 12;
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 31;  // of all sites
constexpr std::uint64_t kMostCallsOfAll = std::uint64_t{1} << 26;
constexpr unsigned kAttempts = 100;

std::uint64_t number_in(const char *record, std::uint64_t offset) {
    std::uint64_t number = 0;
    std::memcpy(&number, record + offset, sizeof number);
    return number;
}

}  // namespace

ProfileReader::ProfileReader(const ProcessMemory &memory, const FoundProfile &found)
    : memory_(memory), tables_(found.tables), file_(found.file) {
    stacks_.try_emplace(0);  // none
}

void ProfileReader::fail() const {
    // Fails with a better message if the process has ended.
    static_cast<void>(memory_.mappings());
    throw Failure(ExitCode::tool_failure, fmt::format("process {}: the sums of its profile, in {}, have been "
                                                      "overwritten",
                                                      memory_.process(), file_));
}

std::uint64_t ProfileReader::number_at(std::uint64_t address) const {
    std::uint64_t number = 0;
    if (!memory_.read(address, &number, sizeof number)) fail();
    return number;
}

ProfileSums ProfileReader::sums_in(const char *record) const {
    const auto sum_at = [&](std::uint64_t offset) {
        return ProfileSum{static_cast<double>(number_in(record, offset)) / static_cast<double>(tables_.block_unit),
                          number_in(record, offset + sizeof(std::uint64_t))};
    };
    return {sum_at(tables_.allocated_offset), sum_at(tables_.live_offset), sum_at(tables_.peak_offset)};
}

ProfileSnapshot ProfileReader::read() {
    ProfileSnapshot snapshot;
    for (unsigned i = 0; i < kAttempts && !snapshot.is_whole; ++i) {
        const std::uint64_t before = number_at(tables_.changes_at);
        snapshot = read_once();
        snapshot.is_whole = before % 2 == 0 && number_at(tables_.changes_at) == before;
    }
    return snapshot;
}

ProfileSnapshot ProfileReader::read_once() {
    const std::uint64_t count = number_at(tables_.site_count_at);
    if (count > kMostSites || count * tables_.site_stride > kMostBytes) fail();
    std::vector<char> totals(tables_.site_stride);
    std::vector<char> records(count * tables_.site_stride);
    const std::uint64_t sums_end =
        std::max({tables_.allocated_offset, tables_.live_offset, tables_.peak_offset}) + 2 * sizeof(std::uint64_t);
    if (!memory_.read(tables_.totals_at, totals.data(), sums_end)) fail();
    if (!memory_.read_touched(tables_.sites_at, records.data(), records.size())) fail();
    const std::uint64_t peaks = number_at(tables_.peaks_at);
    ProfileSnapshot snapshot{.totals = sums_in(totals.data()),
                             .mean = number_at(tables_.self + offsetof(gr_profile_tables, mean)),
                             .missed = number_at(tables_.missed_at),
                             .began = number_at(tables_.self + offsetof(gr_profile_tables, began)),
                             .peak_time = number_at(tables_.peak_time_at)};
    for (std::uint64_t i = 0; i < count; ++i) {
        const char *const record = records.data() + i * tables_.site_stride;
        ProfileSums sums = sums_in(record);
        if (sums.allocated.bytes == 0) continue;
        if (number_in(record, tables_.peak_seen_offset) != peaks) sums.peak = sums.live;
        snapshot.sites.push_back({sums, &calls_of(number_in(record, tables_.stack_offset))});
    }
    return snapshot;
}

const std::vector<std::uint64_t> &ProfileReader::calls_of(std::uint64_t stack) {
    const auto [at, is_new] = stacks_.try_emplace(stack);
    if (!is_new) return at->second;
    const std::uint64_t address = tables_.words_at + stack * sizeof(std::uint64_t);
    const std::uint64_t count = number_at(address) & UINT32_MAX;
    calls_ += count;
    if (count > kMostCalls || calls_ > kMostCallsOfAll) fail();
    at->second.resize(count);
    if (!memory_.read(address + sizeof(std::uint64_t), at->second.data(), count * sizeof(std::uint64_t))) fail();
    return at->second;
}

}  // namespace gr::tool
