// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/charts/site_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reporting/document/words.hpp"

namespace gr::tool {

namespace {

using Numbers = std::vector<double>;

void add_numbers(Numbers *sums, const Numbers &numbers) {
    sums->resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) (*sums)[i] += numbers[i];
}

// The largest first by the first number, at most so many; the others are one row more.
std::vector<TableChart::Row> rows_of(const std::map<std::string, Numbers> &sums, std::size_t most) {
    std::vector<std::pair<std::string, Numbers>> sorted(sums.begin(), sums.end());
    std::ranges::stable_sort(sorted, [](const auto &a, const auto &b) { return a.second[0] > b.second[0]; });
    if (sorted.size() > most) {
        Numbers rest;
        for (std::size_t i = most; i < sorted.size(); ++i) add_numbers(&rest, sorted[i].second);
        const std::string others = count_words(static_cast<double>(sorted.size() - most), "other", "others");
        sorted.resize(most);
        sorted.emplace_back(fmt::format("({})", others), std::move(rest));
    }
    std::vector<TableChart::Row> rows;
    rows.reserve(sorted.size());
    for (auto &[name, numbers] : sorted) {
        TableChart::Row &row = rows.emplace_back();
        row.emplace_back(std::move(name));
        row.insert(row.end(), numbers.begin(), numbers.end());
    }
    return rows;
}

}  // namespace

void SiteTable::add_to(Table *table, trace::StackNumber stack, const Numbers &numbers) {
    const CallSites::Site site = sites_.site(stack);
    add_numbers(&table->rows[site.function], numbers);
    Function &function = table->functions[site.function];
    if (site.frame) function.frame = static_cast<std::int32_t>(*site.frame);
    add_numbers(&function.by_stack[site.path], numbers);
}

void SiteTable::fill(TableChart *chart, const Table &table, std::size_t most_rows, std::size_t most_parts) {
    chart->rows = rows_of(table.rows, most_rows);
    for (const TableChart::Row &row : chart->rows) {
        const auto function = table.functions.find(std::get<std::string>(row[0]));
        const bool is_rest = function == table.functions.end();
        chart->frames.push_back(is_rest ? -1 : function->second.frame);
        chart->parts.push_back(is_rest ? std::vector<TableChart::Row>()
                                       : rows_of(function->second.by_stack, most_parts));
    }
}

TableChart SiteTable::chart() const {
    TableChart chart = chart_;
    fill(&chart, whole_, kMostRows, kMostParts);
    for (const Table &thread : threads_) fill(&chart.threads.emplace_back(), thread, kMostOfThread, kMostPartsOfThread);
    return chart;
}

std::string SiteTable::largest() const {
    const auto rows = rows_of(whole_.rows, 1);
    return rows.empty() ? "" : short_name(std::get<std::string>(rows.front()[0]), kMostNamed);
}

}  // namespace gr::tool
