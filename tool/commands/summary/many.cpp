// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "commands/summary/many.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <utility>

#include "base/text.hpp"
#include "reading/trace/reader.hpp"
#include "reporting/document/words.hpp"
#include "reporting/steps/gatherers.hpp"
#include "reporting/steps/samples.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step_stream.hpp"

namespace gr::tool {

namespace {

std::string base_name(const std::string &path) { return printable(std::filesystem::path(path).filename().string()); }

struct TraceUse {
    std::string file;
    std::string program;
    std::string process;
    double allocations = 0;
    double bytes = 0;
    double in_use = 0;
    double peak = 0;
    double resident = 0;
    double seconds = 0;
    std::string damage;

    void born(const Step &step) {
        const auto size = static_cast<double>(step.block.size);
        allocations += 1;
        bytes += size;
        in_use += size;
        peak = std::max(peak, in_use);
    }
    void died(const Step &step) { in_use -= static_cast<double>(step.block.size); }
    void vanished(const Step &step) { died(step); }
};

TraceUse use_of(const std::string &file) {
    const trace::Trace trace(file);
    const Scope scope(trace);
    TraceUse use;
    use.file = base_name(file);
    use.program = base_name(trace.start().program);
    use.process = fmt::format("{}", trace.start().process);
    StepStream steps(scope, {});
    while (const Batch *const batch = steps.next()) {
        for (const Step &step : *batch) tell(use, step);
    }
    if (const trace::Sample *const highest = highest_resident(scope))
        use.resident = static_cast<double>(highest->resident_bytes);
    use.seconds = trace::seconds(trace.last());
    use.damage = printable(trace.damage());
    return use;
}

}  // namespace

Document summary_of(const std::vector<std::string> &files) {
    std::vector<TraceUse> uses;
    std::ranges::transform(files, std::back_inserter(uses), use_of);
    std::ranges::stable_sort(uses, std::greater<>(), &TraceUse::peak);
    Document document;
    document.title = count_words(static_cast<double>(files.size()), "trace", "traces");
    TableChart table;
    table.title = "Traces";
    table.columns = {{"trace", Unit::text},
                     {"program", Unit::text},
                     {"process", Unit::text},
                     {"peak in use", Unit::bytes},
                     {"in use at the end", Unit::bytes},
                     {"allocations", Unit::count},
                     {"bytes allocated", Unit::bytes},
                     {"peak resident", Unit::bytes},
                     {"time", Unit::seconds}};
    double allocations = 0;
    double bytes = 0;
    for (const TraceUse &use : uses) {
        if (!use.damage.empty()) document.notes.push_back(use.damage);
        table.rows.push_back({use.file, use.program, use.process, use.peak, use.in_use, use.allocations, use.bytes,
                              use.resident, use.seconds});
        allocations += use.allocations;
        bytes += use.bytes;
    }
    Section section{"traces", "Which process used how much?", "", {}};
    section.answer =
        fmt::format("{} had the highest peak: {} in use. All together made {} of {}.", uses.front().file,
                    bytes_words(uses.front().peak),
                    count_words(allocations, "successful allocation", "successful allocations"), bytes_words(bytes));
    section.charts = {std::move(table)};
    document.sections = {std::move(section)};
    return document;
}

}  // namespace gr::tool
