// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/document/document_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/text.hpp"
#include "reporting/document/words.hpp"

namespace gr::tool {

namespace {

constexpr std::size_t kWidth = 100;
constexpr std::size_t kMostRows = 12;
constexpr std::size_t kMostCell = 72;
constexpr std::size_t kEndless = std::numeric_limits<std::size_t>::max();

std::string wrapped(const std::string &text, const std::string &indent) {
    std::string lines = indent;
    std::size_t column = indent.size();
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string_view word = std::string_view(text).substr(at, end - at);
        if (column + width_of(word) > kWidth && column > indent.size()) {
            lines.back() = '\n';
            lines += indent;
            column = indent.size();
        }
        lines.append(word).append(1, ' ');
        column += width_of(word) + 1;
        at = end + 1;
    }
    lines.back() = '\n';
    return lines;
}

std::string number_text(double number, Unit unit) {
    if (!std::isfinite(number)) return "-";
    if (unit == Unit::growth) return growth_percent(number);
    if (number < 0) return "-" + number_text(-number, unit);
    switch (unit) {
        case Unit::time:
        case Unit::seconds:
            return time_words(number);
        case Unit::bytes:
            return bytes_words(number);
        case Unit::fraction:
            return percent_words(number);
        case Unit::address:
            return fmt::format("{:#x}", static_cast<std::uint64_t>(number));
        case Unit::count:
        case Unit::events:
        case Unit::per_second:
        case Unit::growth:
        case Unit::text:
            break;
    }
    return count_words(number);
}

std::string cell_text(const Value &value, Unit unit, std::size_t most) {
    if (const double *const number = std::get_if<double>(&value)) return number_text(*number, unit);
    return short_name(printable(std::get<std::string>(value)), most);
}

std::string table_text(const TableChart &table, std::size_t most) {
    std::vector<std::vector<std::string>> rows(1);
    for (const auto &column : table.columns) rows.front().push_back(column.name);
    for (std::size_t i = 0; i < std::min(table.rows.size(), kMostRows); ++i) {
        std::vector<std::string> &row = rows.emplace_back();
        for (std::size_t k = 0; k < table.columns.size(); ++k)
            row.push_back(cell_text(table.rows[i][k], table.columns[k].unit, most));
    }
    std::vector<std::size_t> widths(table.columns.size());
    for (const auto &row : rows) {
        for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], width_of(row[k]));
    }
    std::string text = fmt::format("    {}\n", table.title);
    for (const auto &row : rows) {
        std::string line = "      ";
        for (std::size_t k = 0; k < row.size(); ++k) {
            const std::string space(widths[k] - width_of(row[k]), ' ');
            const bool is_text = table.columns[k].unit == Unit::text;
            line += is_text ? row[k] + space : space + row[k];
            line += "  ";
        }
        line.erase(line.find_last_not_of(' ') + 1);
        text += line + "\n";
    }
    if (table.rows.size() > kMostRows) text += fmt::format("      and {} more\n", table.rows.size() - kMostRows);
    return text;
}

}  // namespace

std::string to_text(const Document &document, bool has_whole_names) {
    std::string text = printable(document.title) + "\n";
    for (const auto &[name, fact] : document.facts) text += fmt::format("  {:<12} {}\n", name, printable(fact));
    for (const std::string &note : document.notes) text += wrapped("note: " + printable(note), "  ");
    for (const Section &section : document.sections) {
        text += "\n" + wrapped(section.question, "") + wrapped(printable(section.answer), "  ");
        for (const Chart &chart : section.charts) {
            const auto *const table = std::get_if<TableChart>(&chart);
            if (table != nullptr && !table->rows.empty())
                text += table_text(*table, has_whole_names ? kEndless : kMostCell);
        }
    }
    return text;
}

}  // namespace gr::tool
