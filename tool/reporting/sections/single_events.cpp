// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/single_events.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/text.hpp"
#include "reporting/charts/bucket_charts.hpp"
#include "reporting/document/words.hpp"
#include "reporting/steps/op_names.hpp"

namespace gr::tool {

std::string SingleEvents::thread_of(const Step &step) const {
    const std::uint32_t number = trace::number_of(step.thread);
    const std::string &name = scope_.trace.threads()[number].name;
    return name.empty() ? fmt::format("thread {}", number) : fmt::format("{} ({})", printable(name), number);
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
    table.columns = {{"time", Unit::time},
                     {"thread", Unit::text},
                     {"call", Unit::text},
                     {"address", Unit::address},
                     {"size", Unit::bytes},
                     {"lived", Unit::seconds},
                     {"duration of the call", Unit::seconds},
                     {"allocated by", Unit::text}};
    for (const Step &step : steps_) {
        const trace::Block &block = step.block;
        const bool is_of_block = step.kind == StepKind::born || step.kind == StepKind::died;
        const bool has_size = step.kind != StepKind::unknown_free;
        table.rows.push_back({seconds(step.time), thread_of(step),
                              op_name(step.op) + (step.kind == StepKind::failed         ? ", failed"
                                                  : step.kind == StepKind::unknown_free ? ", of an unknown block"
                                                                                        : ""),
                              static_cast<double>(block.address), has_size ? static_cast<double>(block.size) : kNone,
                              step.kind == StepKind::died ? static_cast<double>(step.age()) * kSecondsPerUnit : kNone,
                              step.nanoseconds != 0 ? step.nanoseconds * 1e-9 : kNone,
                              is_of_block && block.stack != trace::StackNumber::none ? sites.text(block.stack) : ""});
    }
    section.charts = {std::move(table)};
    return section;
}

}  // namespace gr::tool
