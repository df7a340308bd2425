// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/steps/thread_groups.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/text.hpp"

namespace gr::tool {

namespace {

std::string name_of(const trace::Thread &thread) {
    const std::uint32_t number = trace::number_of(thread.number);
    return thread.name.empty() ? fmt::format("thread {}", number)
                               : fmt::format("{} ({})", printable(thread.name), number);
}

}  // namespace

ThreadGroups::ThreadGroups(const trace::Trace &trace) : group_of_(trace.threads().size()) {
    std::vector<std::uint64_t> events(group_of_.size());
    for (const trace::EventBlock &block : trace.blocks()) {
        if (block.summary.thread < events.size()) events[block.summary.thread] += block.summary.events;
    }
    std::vector<std::uint32_t> by_events(events.size());
    std::iota(by_events.begin(), by_events.end(), 0U);
    std::stable_sort(by_events.begin(), by_events.end(), [&](auto a, auto b) { return events[a] > events[b]; });
    const std::size_t alone = by_events.size() <= kMost ? by_events.size() : kMost - 1;
    std::sort(by_events.begin(), by_events.begin() + static_cast<std::ptrdiff_t>(alone));
    for (std::size_t i = 0; i < by_events.size(); ++i) {
        group_of_[by_events[i]] = static_cast<std::uint8_t>(std::min(i, alone));
        if (i < alone) names_.push_back(name_of(trace.threads()[by_events[i]]));
    }
    others_ = static_cast<std::uint32_t>(by_events.size() - alone);
    if (others_ != 0) names_.push_back(fmt::format("{} others", others_));
}

}  // namespace gr::tool
