// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a table of call sites: numbers by call stack, those together whose innermost calls read the same, the largest
//    first.
// Invariant: at most kMostRows rows; the rest is summed up in one more.
// Must not know: what the numbers are.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

class SiteTable {
  public:
    static constexpr std::size_t kMostRows = 100;
    static constexpr std::size_t kMostNamed = 160;  // letters of a site in a sentence

    // The columns behind the site's; the first orders the rows.
    SiteTable(std::string title, std::vector<TableChart::Column> columns) {
        chart_.title = std::move(title);
        chart_.columns = std::move(columns);
        chart_.columns.insert(chart_.columns.begin(), {"call site", Unit::text});
    }

    void add(std::string site, const std::vector<double> &numbers);
    // Empty rows if none was added.
    [[nodiscard]] TableChart chart() const;
    // The first row's site, for a sentence; empty: there is none.
    [[nodiscard]] std::string largest() const;

  private:
    [[nodiscard]] std::vector<std::pair<std::string, std::vector<double>>> sorted() const;

    TableChart chart_;
    std::map<std::string, std::vector<double>> rows_;
};

}  // namespace gr::tool
