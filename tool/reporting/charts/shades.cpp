// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/charts/shades.hpp"

#include <algorithm>
#include <cmath>

namespace gr::tool {

Cells shades_of(std::span<const double> numbers, double low, double high, Scale scale) {
    constexpr double kSteps = 254;
    const bool is_log = scale == Scale::log;
    const double width = is_log ? std::log(high / low) : high - low;
    Cells cells(numbers.size());
    std::transform(numbers.begin(), numbers.end(), cells.begin(), [&](double number) -> std::uint8_t {
        if (number <= 0) return 0;
        if (width <= 0) return 255;
        const double part = (is_log ? std::log(number / low) : number - low) / width;
        return static_cast<std::uint8_t>(1 + std::lround(std::clamp(part, 0.0, 1.0) * kSteps));
    });
    return cells;
}

void fill(HeatChart *chart, std::span<const double> numbers, std::uint32_t columns, std::span<const double> row_edges) {
    const auto row_of = [&](auto at) { return static_cast<std::size_t>(at - numbers.begin()) / columns; };
    const auto is_something = [](double number) { return number > 0; };
    const auto first = std::find_if(numbers.begin(), numbers.end(), is_something);
    chart->columns = columns;
    if (first == numbers.end()) {
        chart->y_edges.assign(1, row_edges.empty() ? 0 : row_edges.front());
        return;
    }
    const auto behind = std::find_if(numbers.rbegin(), numbers.rend(), is_something).base();
    const std::size_t from = row_of(first);
    const std::size_t to = row_of(behind - 1) + 1;
    const std::span<const double> kept = numbers.subspan(from * columns, (to - from) * columns);
    chart->rows = static_cast<std::uint32_t>(to - from);
    chart->y_edges.assign(row_edges.begin() + static_cast<std::ptrdiff_t>(from),
                          row_edges.begin() + static_cast<std::ptrdiff_t>(to) + 1);
    chart->low = 1;
    chart->high = *std::max_element(kept.begin(), kept.end());
    chart->cells = shades_of(kept, chart->low, chart->high, chart->scale.scale);
}

}  // namespace gr::tool
