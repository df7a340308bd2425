// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/steps/shown_threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

namespace gr::tool {

ShownThreads::ShownThreads(const ThreadGroups &groups, const StackTotals &totals) : number_of_(groups.count()) {
    if (groups.count() < 2) return;
    std::vector<double> bytes(groups.count());
    for (std::uint32_t stack = 0; stack < totals.count(); ++stack) {
        for (const StackTotals::Share &share : totals.shares(stack)) {
            for (const StackTotals::Part &part : share.parts) bytes[share.group] += part.sum.bytes;
            bytes[share.group] += share.at_end.bytes + share.at_peak.bytes;  // of a window, from before it
        }
    }
    std::vector<std::uint32_t> active;
    for (std::uint32_t group = 0; group < groups.count(); ++group) {
        if (bytes[group] > 0) active.push_back(group);
    }
    if (active.size() < 2) return;
    std::ranges::stable_sort(active, std::greater<>(), [&](std::uint32_t group) { return bytes[group]; });
    const std::size_t alone = active.size() <= kMost ? active.size() : kMost - 1;
    for (std::size_t i = 0; i < active.size(); ++i) {
        number_of_[active[i]] = static_cast<std::uint32_t>(std::min(i, alone));
        if (i < alone) names_.push_back(groups.name(active[i]));
    }
    if (alone == active.size()) return;
    std::size_t others = active.size() - alone;
    const bool has_last = groups.others() > 1 && number_of_[groups.count() - 1] == alone && bytes.back() > 0;
    if (has_last) others += groups.others() - 1;
    names_.push_back(fmt::format("{} other threads", others));
}

}  // namespace gr::tool
