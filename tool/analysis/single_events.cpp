// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "analysis/single_events.hpp"

#include <fmt/format.h>

#include <limits>

#include "analysis/bucket_charts.hpp"
#include "analysis/op_names.hpp"
#include "analysis/words.hpp"
#include "base/text.hpp"

namespace gr::analysis {

std::string SingleEvents::thread_of(const Step &step) const {
    const std::uint32_t number = trace::number_of(step.thread);
    const std::string &name = scope_.trace.threads()[number].name;
    return name.empty() ? fmt::format("thread {}", number) : fmt::format("{} ({})", tool::printable(name), number);
}

Section SingleEvents::section(CallSites &sites) const {
    Section section{"events", "Which events happened?", "", {}};
    const std::string events = count_words(static_cast<double>(count_), "event", "events");
    if (count_ == 0) {
        section.answer = "Nothing.";
        return section;
    }
    if (count_ > kMost) {
        section.answer = fmt::format(
            "There are {} in this time. Single events are listed only if there are at most {}: select a shorter time, "
            "then 'Look closer'.",
            events, kMost);
        return section;
    }
    section.answer = fmt::format("{}, in order of time.", events);
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    TableChart table;
    table.title = "Events";
    table.columns = {{"time", Unit::kTime},
                     {"thread", Unit::kText},
                     {"call", Unit::kText},
                     {"address", Unit::kAddress},
                     {"size", Unit::kBytes},
                     {"lived", Unit::kSeconds},
                     {"duration of the call", Unit::kSeconds},
                     {"allocated by", Unit::kText}};
    for (const Step &step : steps_) {
        const trace::Block &block = step.block;
        const bool is_of_block = step.kind == StepKind::kBorn || step.kind == StepKind::kDied;
        const bool has_size = step.kind != StepKind::kUnknownFree;
        table.rows.push_back({seconds(step.time), thread_of(step),
                              op_name(step.op) + (step.kind == StepKind::kFailed        ? ", failed"
                                                  : step.kind == StepKind::kUnknownFree ? ", of an unknown block"
                                                                                        : ""),
                              static_cast<double>(block.address), has_size ? static_cast<double>(block.size) : kNone,
                              step.kind == StepKind::kDied ? static_cast<double>(step.age()) * kSecondsPerUnit : kNone,
                              step.nanoseconds != 0 ? step.nanoseconds * 1e-9 : kNone,
                              is_of_block && block.stack != trace::StackNumber::kNone ? sites.text(block.stack) : ""});
    }
    section.charts = {std::move(table)};
    return section;
}

}  // namespace gr::analysis
