// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/charts/site_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "reporting/document/words.hpp"

namespace gr::tool {

void SiteTable::add(std::string site, const std::vector<double> &numbers) {
    std::vector<double> &row = rows_[std::move(site)];
    row.resize(numbers.size());
    for (std::size_t i = 0; i < numbers.size(); ++i) row[i] += numbers[i];
}

std::vector<std::pair<std::string, std::vector<double>>> SiteTable::sorted() const {
    std::vector<std::pair<std::string, std::vector<double>>> rows(rows_.begin(), rows_.end());
    std::ranges::stable_sort(rows, [](const auto &a, const auto &b) { return a.second[0] > b.second[0]; });
    return rows;
}

TableChart SiteTable::chart() const {
    TableChart chart = chart_;
    std::vector<double> rest;
    std::size_t left = 0;
    for (const auto &[site, numbers] : sorted()) {
        if (chart.rows.size() < kMostRows) {
            std::vector<Value> &row = chart.rows.emplace_back();
            row.emplace_back(site);
            row.insert(row.end(), numbers.begin(), numbers.end());
            continue;
        }
        rest.resize(numbers.size());
        for (std::size_t i = 0; i < numbers.size(); ++i) rest[i] += numbers[i];
        ++left;
    }
    if (left == 0) return chart;
    std::vector<Value> &row = chart.rows.emplace_back();
    row.emplace_back(fmt::format("({})", count_words(static_cast<double>(left), "other", "others")));
    row.insert(row.end(), rest.begin(), rest.end());
    return chart;
}

std::string SiteTable::largest() const {
    const auto rows = sorted();
    return rows.empty() ? "" : short_name(rows.front().first, kMostNamed);
}

}  // namespace gr::tool
