// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a table of functions that wanted memory: numbers by call stack, those of one function together, the largest first;
//    each row can be taken apart into the stacks that it is the sum of. The same again for single threads.
// Invariant: at most kMostRows rows, and kMostParts of each; of a thread kMostOfThread and kMostPartsOfThread. The rest is
//    summed up in one more.
// Must not know: what the numbers are.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"

namespace gr::tool {

class SiteTable {
  public:
    static constexpr std::size_t kMostRows = 100;
    static constexpr std::size_t kMostParts = 5;
    static constexpr std::size_t kMostOfThread = 20;
    static constexpr std::size_t kMostPartsOfThread = 2;
    static constexpr std::size_t kMostNamed = 160;  // letters of a site in a sentence

    // The columns behind the site's; the first orders the rows.
    SiteTable(std::string title, std::vector<TableChart::Column> columns, CallSites &sites) : sites_(sites) {
        chart_.title = std::move(title);
        chart_.columns = std::move(columns);
        chart_.columns.insert(chart_.columns.begin(), {"function", Unit::text});
    }

    void add(trace::StackNumber stack, const std::vector<double> &numbers) { add_to(&whole_, stack, numbers); }
    // To the thread's rows alone, which is one of Document::threads.
    void add_of_thread(std::uint32_t thread, trace::StackNumber stack, const std::vector<double> &numbers) {
        if (threads_.size() <= thread) threads_.resize(thread + std::size_t{1});
        add_to(&threads_[thread], stack, numbers);
    }
    // Empty rows if none was added.
    [[nodiscard]] TableChart chart() const;
    // The first row's function, for a sentence; empty: there is none.
    [[nodiscard]] std::string largest() const;

  private:
    using Numbers = std::vector<double>;
    using Sums = std::map<std::string, Numbers>;
    struct Function {
        std::int32_t frame = -1;
        Sums by_stack;
    };

    struct Table {
        Sums rows;
        std::map<std::string, Function> functions;
    };

    void add_to(Table *table, trace::StackNumber stack, const Numbers &numbers);
    static void fill(TableChart *chart, const Table &table, std::size_t most_rows, std::size_t most_parts);

    CallSites &sites_;
    TableChart chart_;
    Table whole_;
    std::vector<Table> threads_;
};

}  // namespace gr::tool
