// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/replay/touched_pages.hpp"

#include <algorithm>

namespace gr::tool {

namespace {

std::uint64_t bytes_within(const std::vector<trace::PageRun> &runs, std::uint64_t begin, std::uint64_t end) {
    auto run =
        std::ranges::upper_bound(runs, begin, {}, [](const trace::PageRun &one) { return one.begin + one.bytes; });
    std::uint64_t bytes = 0;
    for (; run != runs.end() && run->begin < end; ++run)
        bytes += std::min(run->begin + run->bytes, end) - std::max(run->begin, begin);
    return bytes;
}

// Between two samples a process can have had more in memory, but not by much more than it had in one of them.
std::uint32_t most_resident_pages(const trace::Trace &trace) {
    constexpr std::uint64_t kBetweenSamples = std::uint64_t{64} << 20;
    constexpr std::uint64_t kMost = UINT32_MAX;
    std::uint64_t most = 0;
    for (const trace::Sample &sample : trace.samples()) most = std::max(most, sample.resident_bytes);
    if (trace.samples().empty() || most > trace::kMostBlock) return UINT32_MAX;
    return static_cast<std::uint32_t>(std::min(kMost, (2 * most + kBetweenSamples) / trace.start().page_bytes));
}

}  // namespace

TouchedPages::TouchedPages(Touch touch, const trace::Trace &trace)
    : touch_(touch),
      page_bytes_(trace.start().page_bytes),
      most_resident_(touch == Touch::recorded ? most_resident_pages(trace) : UINT32_MAX) {}

void TouchedPages::look(const trace::Resident &resident, const trace::LiveSet &live) {
    if (touch_ != Touch::recorded) return;
    live.for_each([&](const trace::Block &block) {
        if (pages_in(block.size) < kLeastPages) return;
        const std::uint64_t bytes = bytes_within(resident.runs, block.address, block.address + block.size);
        std::uint32_t &most = most_[block.number];
        most = std::max(most, static_cast<std::uint32_t>(pages_in(bytes)));
    });
}

std::uint32_t TouchedPages::of(const trace::Block &block) const {
    if (touch_ == Touch::none) return 0;
    if (const auto looked = most_.find(block.number); looked != most_.end()) return looked->second;
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(pages_in(block.size), most_resident_));
}

}  // namespace gr::tool
