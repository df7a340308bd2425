// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/sections/resident_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/text.hpp"
#include "reporting/charts/site_table.hpp"
#include "reporting/document/words.hpp"
#include "reporting/steps/mapped_memory.hpp"
#include "reporting/steps/samples.hpp"

namespace gr::tool {

namespace {

using trace::MemoryKind;

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

double total_of(const auto &numbers) { return std::accumulate(numbers.begin(), numbers.end(), 0.0); }

double resident_of(const trace::MemoryLook &memory, MemoryKind kind) {
    double sum = 0;
    for (const trace::MemoryPart &part : memory.parts)
        sum += part.kind == kind ? static_cast<double>(part.resident) : 0;
    return sum;
}

// "a", "a and b", "a, b and c".
std::string list_words(const std::vector<std::string> &parts) {
    std::string text;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i != 0) text += i + 1 == parts.size() ? " and " : ", ";
        text += parts[i];
    }
    return text;
}

}  // namespace

ResidentMemory::ResidentMemory(const Scope &scope) : scope_(scope) {
    for (const trace::MemoryBlock &block : scope.trace.memory()) {
        const trace::Time time{block.summary.time};
        if (time > scope.time.last()) break;
        if (time < scope.time.first()) looks_.clear();  // only the last before a window tells of its begin
        looks_.push_back({&block, 0});
    }
}

ResidentMemory::Use ResidentMemory::use_of(MemoryKind kind) {
    switch (kind) {
        case MemoryKind::heap:
            return held;
        case MemoryKind::own:
            return own;
        case MemoryKind::stack:
            return stacks;
        case MemoryKind::data:
            return data;
        case MemoryKind::code:
            return code;
        case MemoryKind::file:
            return files;
        case MemoryKind::shared:
            return shared;
        case MemoryKind::earlier:
            return earlier;
        case MemoryKind::recorder:
            return kUses;
        case MemoryKind::not_known:
            break;
    }
    return not_known;
}

const char *ResidentMemory::name_of(Use use) const {
    if (use == in_malloc) return "blocks in use, from malloc";
    if (use == held && scope_.trace.start().ran_before) return "blocks from before the recording, and free memory";
    if (use == held) return "held by the allocator, not in use";
    unsigned kind = 1;
    while (kind + 1 < trace::kMemoryKinds && use_of(static_cast<MemoryKind>(kind)) != use) ++kind;
    return kind_name(static_cast<MemoryKind>(kind));
}

// Nothing where it is damaged.
std::optional<trace::MemoryLook> ResidentMemory::read(const Look &look) const {
    try {
        return scope_.trace.memory_at(*look.block);
    } catch (const trace::Damage &) {
        return std::nullopt;
    }
}

ResidentMemory::Uses ResidentMemory::uses_of(const trace::MemoryLook &memory, std::uint64_t live) {
    Uses uses{};
    for (const trace::MemoryPart &part : memory.parts) {
        const Use use = use_of(part.kind);
        if (use != kUses) uses[use] += static_cast<double>(part.resident);
    }
    uses[in_malloc] = std::min(uses[held], static_cast<double>(live));
    uses[held] -= uses[in_malloc];
    return uses;
}

const ResidentMemory::Look *ResidentMemory::highest() const {
    const auto found =
        std::ranges::max_element(looks_, {}, [](const Look &look) { return look.block->summary.resident; });
    return found == looks_.end() ? nullptr : &*found;
}

SeriesChart ResidentMemory::over_time() const {
    SeriesChart chart;
    chart.title = "Resident memory by kind";
    chart.x = {"time", Unit::time};
    chart.y = {"resident bytes", Unit::bytes};
    chart.is_stacked = true;
    chart.is_step = true;
    chart.at = scope_.time.point_ends();
    std::array<std::vector<double>, kUses> values;
    for (std::vector<double> &one : values) one.assign(TimeAxis::kPoints, kNoNumber);
    for (std::size_t i = 0; i < looks_.size(); ++i) {
        const std::optional<trace::MemoryLook> memory = read(looks_[i]);
        if (!memory) continue;
        const Uses uses = uses_of(*memory, looks_[i].live);
        const auto from = static_cast<std::ptrdiff_t>(scope_.time.point_of(memory->time));
        for (std::size_t use = 0; use < kUses; ++use)
            std::fill(values[use].begin() + from, values[use].end(), uses[use]);
    }
    add_series(values, &chart);
    return chart;
}

// What is never much is one series, so that the others are told apart.
void ResidentMemory::add_series(const std::array<std::vector<double>, kUses> &values, SeriesChart *chart) const {
    constexpr double kMuch = 0.01;
    const Look *const most = highest();
    const double much = most == nullptr ? 0 : kMuch * static_cast<double>(most->block->summary.resident);
    std::vector<double> rest(TimeAxis::kPoints);
    for (std::size_t use = 0; use < kUses; ++use) {
        if (std::ranges::any_of(values[use], [&](double value) { return value > much; })) {
            chart->series.push_back({name_of(Use(use)), values[use]});
        } else {
            std::ranges::transform(rest, values[use], rest.begin(), std::plus<>());
        }
    }
    if (std::ranges::any_of(rest, [](double value) { return value > 0; }))
        chart->series.push_back({"all others, at most 1 % each", std::move(rest)});
}

// By name, or by the calls that mapped it; the largest first.
std::vector<TableChart::Row> ResidentMemory::parts_of(const trace::MemoryLook &memory, Use use,
                                                      CallSites &sites) const {
    constexpr std::size_t kMostNames = 12;
    using Sums = std::array<double, 2>;
    std::map<std::string, Sums> sums;
    for (const trace::MemoryPart &part : memory.parts) {
        if (use_of(part.kind) != use) continue;
        std::string text = printable(scope_.trace.memory_names()[part.name]);
        if (part.stack != trace::StackNumber::none) text += (text.empty() ? "" : ", ") + sites.text(part.stack);
        if (text.empty()) text = use == own ? "(the call was not recorded)" : "(without a name)";
        Sums &sum = sums[text];
        sum[0] += static_cast<double>(part.resident);
        sum[1] += static_cast<double>(part.bytes);
    }
    std::vector<std::pair<std::string, Sums>> sorted(sums.begin(), sums.end());
    std::ranges::stable_sort(sorted, [](const auto &a, const auto &b) { return a.second[0] > b.second[0]; });
    if (sorted.size() > kMostNames) {
        Sums rest{};
        for (std::size_t i = kMostNames; i < sorted.size(); ++i) {
            rest[0] += sorted[i].second[0];
            rest[1] += sorted[i].second[1];
        }
        const std::string others = count_words(static_cast<double>(sorted.size() - kMostNames), "other", "others");
        sorted.resize(kMostNames);
        sorted.emplace_back(fmt::format("({})", others), rest);
    }
    const double whole =
        static_cast<double>(std::accumulate(memory.parts.begin(), memory.parts.end(), std::uint64_t{0},
                                            [](std::uint64_t sum, const trace::MemoryPart &part) {
                                                return sum + (part.kind == MemoryKind::recorder ? 0 : part.resident);
                                            }));
    std::vector<TableChart::Row> rows;
    rows.reserve(sorted.size());
    for (const auto &[text, sum] : sorted) rows.push_back({text, sum[0], ratio(sum[0], whole), sum[1]});
    return rows;
}

TableChart ResidentMemory::by_kind(const trace::MemoryLook &memory, const Uses &uses, CallSites &sites) const {
    TableChart table;
    table.title = fmt::format("Resident memory by kind, {} after the start", time_words(seconds(memory.time)));
    table.columns = {
        {"memory", Unit::text}, {"resident", Unit::bytes}, {"share", Unit::fraction}, {"addresses", Unit::bytes}};
    const double whole = total_of(uses);
    const auto add = [&](const std::string &name, double resident, double share, Use use) {
        std::vector<TableChart::Row> parts = parts_of(memory, use, sites);
        double addresses = 0;
        for (const TableChart::Row &part : parts) addresses += std::get<double>(part.back());
        table.rows.push_back({name, resident, share, addresses});
        const bool tells_nothing = parts.size() == 1 && std::get<std::string>(parts[0][0]).front() == '(';
        table.parts.push_back(tells_nothing ? std::vector<TableChart::Row>() : std::move(parts));
    };
    for (std::size_t use = 0; use < kUses; ++use) {
        if (use == in_malloc || uses[use] + (use == held ? uses[in_malloc] : 0) <= 0) continue;
        if (use != held) {
            add(name_of(Use(use)), uses[use], ratio(uses[use], whole), Use(use));
            continue;
        }
        const double heap = uses[in_malloc] + uses[held];
        add("the allocator's heap", heap, ratio(heap, whole), held);
        table.parts.back() = {{name_of(in_malloc), uses[in_malloc], ratio(uses[in_malloc], whole), kNoNumber},
                              {name_of(held), uses[held], ratio(uses[held], whole), kNoNumber}};
    }
    std::vector<std::size_t> order(table.rows.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::greater<>(),
                             [&](std::size_t row) { return std::get<double>(table.rows[row][1]); });
    TableChart sorted = table;
    for (std::size_t i = 0; i < order.size(); ++i) {
        sorted.rows[i] = table.rows[order[i]];
        sorted.parts[i] = table.parts[order[i]];
    }
    return sorted;
}

std::string ResidentMemory::answer(const Look &look, const trace::MemoryLook &memory, const Uses &uses) const {
    const double whole = total_of(uses);
    const std::string when = time_words(seconds(memory.time));
    if (whole <= 0) return fmt::format("Nothing was resident {} after the start.", when);
    constexpr std::array<const char *, kUses> kPhrases = {"in use from malloc",
                                                          "held by the allocator and not in use",
                                                          "mapped by the program or its libraries without malloc",
                                                          "stacks of threads",
                                                          "variables of the program and its libraries",
                                                          "code of the program and its libraries",
                                                          "other mapped files",
                                                          "shared memory",
                                                          "mapped before the recording began",
                                                          "not known"};
    constexpr double kWorthTelling = 0.005;
    std::vector<std::size_t> told;
    for (std::size_t use = 0; use < kUses; ++use) {
        if (use == in_malloc || uses[use] >= kWorthTelling * whole) told.push_back(use);
    }
    std::ranges::stable_sort(told, std::greater<>(), [&](std::size_t use) { return uses[use]; });
    std::vector<std::string> phrases;
    for (const std::size_t use : told) {
        const char *const verb = phrases.empty() ? "are " : "";
        const char *const phrase = use == held && scope_.trace.start().ran_before
                                       ? "held by the allocator (blocks from before the recording, and free memory)"
                                       : kPhrases[use];
        phrases.push_back(fmt::format("{} {}{}", bytes_words(uses[use]), verb, phrase));
    }
    std::string text =
        fmt::format("Of {} resident {} after the start, {}.", bytes_words(whole), when, list_words(phrases));
    if (uses[held] <= 0 && static_cast<double>(look.live) > uses[in_malloc]) {
        text += fmt::format(" {} were requested from malloc, and not all of that was touched.",
                            bytes_words(static_cast<double>(look.live)));
    }
    const trace::Sample *const most = highest_resident(scope_);
    constexpr double kClose = 1.02;
    if (most != nullptr && static_cast<double>(most->resident_bytes) > kClose * whole) {
        text += fmt::format(" At most {} were resident, {} after the start, when this was not looked at.",
                            bytes_words(static_cast<double>(most->resident_bytes)), time_words(seconds(most->time)));
    }
    if (memory.page_tables != 0) {
        text += fmt::format(" The kernel has {} of page tables besides.",
                            bytes_words(static_cast<double>(memory.page_tables)));
    }
    if (const double recorder = resident_of(memory, MemoryKind::recorder); recorder > 0)
        text += fmt::format(" No number here contains the {} of the recording itself.", bytes_words(recorder));
    return text;
}

Section ResidentMemory::section(CallSites &sites) {
    go_to(trace::Time{std::numeric_limits<std::uint64_t>::max()});
    Section section{"resident", "What is the resident memory made of?", "", {}};
    const Look *const look = highest();
    const std::optional<trace::MemoryLook> memory = look == nullptr ? std::nullopt : read(*look);
    if (!memory) {
        section.answer = look == nullptr ? "What the resident memory was for was not recorded."
                                         : "The part of the trace that tells this is damaged.";
        return section;
    }
    const Uses uses = uses_of(*memory, look->live);
    section.answer = answer(*look, *memory, uses);
    section.charts = {over_time(), by_kind(*memory, uses, sites)};
    SiteTable table("Mapped without malloc, by function", {{"resident", Unit::bytes}, {"addresses", Unit::bytes}},
                    sites);
    for (const trace::MemoryPart &part : memory->parts) {
        if (part.kind != MemoryKind::own || part.stack == trace::StackNumber::none) continue;
        table.add(part.stack, {static_cast<double>(part.resident), static_cast<double>(part.bytes)});
    }
    TableChart functions = table.chart();
    if (functions.rows.empty()) return section;
    section.answer += fmt::format(" Of what was mapped without malloc, {} mapped the most: {}.", table.largest(),
                                  bytes_words(std::get<double>(functions.rows.front()[1])));
    section.charts.emplace_back(std::move(functions));
    return section;
}

}  // namespace gr::tool
