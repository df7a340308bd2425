// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the cells of a heat chart: numbers as bytes, and rows without anything cut off.
// Invariant: 0 becomes 0 and nothing else does; the highest becomes 255.
// Must not know: what the numbers count.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reporting/document/document.hpp"

namespace gr::tool {

// The low and the high that 1 and 255 stand for; of a logarithmic scale low is not below 1.
[[nodiscard]] Cells shades_of(std::span<const double> numbers, double low, double high, Scale scale);

// Sets the chart's columns, rows, cells and scale, and takes of the rows, each of which has two of the edges, those between
// the first and the last with anything in it. numbers: row after row.
void fill(HeatChart *chart, std::span<const double> numbers, std::uint32_t columns, std::span<const double> row_edges);

}  // namespace gr::tool
