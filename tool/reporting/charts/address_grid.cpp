// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/charts/address_grid.hpp"

#include <utility>

namespace gr::tool {

std::uint32_t AddressGrid::find(std::uint64_t number) {
    const auto [at, is_new] = places_.try_emplace(number, static_cast<std::uint32_t>(cells_.size()));
    if (is_new) {
        cells_.push_back(number);
        in_use_.push_back(0);
    }
    return at->second;
}

void AddressGrid::take(Axis axis, std::uint32_t column) {
    while (columns_[axis].size() < column) columns_[axis].emplace_back(in_use_.begin(), in_use_.end());
}

void AddressGrid::coarsen() {
    ++cell_log_;
    places_.clear();
    recent_.assign(kRecent, Recent{});
    const std::vector<std::uint64_t> fine_cells = std::exchange(cells_, {});
    const std::vector<std::uint64_t> fine_in_use = std::exchange(in_use_, {});
    std::vector<std::uint32_t> place_of_fine;
    for (std::size_t i = 0; i < fine_cells.size(); ++i) {
        place_of_fine.push_back(find(fine_cells[i] >> 1));
        in_use_[place_of_fine.back()] += fine_in_use[i];
    }
    for (auto &columns : columns_) {
        for (std::vector<float> &column : columns) {
            std::vector<float> coarse(cells_.size());
            for (std::size_t i = 0; i < column.size(); ++i) coarse[place_of_fine[i]] += column[i];
            column = std::move(coarse);
        }
    }
}

}  // namespace gr::tool
