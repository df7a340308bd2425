// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section with the memory map: address by time, and by blocks allocated, each piece shaded by how much is in
//    use.
// Invariant: an address axis has only pieces that held a block; what lies between stands as a gap of one row.
// Must not know: who allocated.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reporting/charts/address_grid.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class MemoryMap {
  public:
    static constexpr std::size_t kMostRows = 512;

    explicit MemoryMap(const Scope &scope);

    void born(const Step &step) {
        begin(step);
        grid_.add(step.block);
        ++births_;
    }
    void died(const Step &step) {
        begin(step);
        grid_.remove(step.block);
    }
    void vanished(const Step &step) { died(step); }
    void alive(const Step &step) { grid_.add(step.block); }

    // Once, behind the last step.
    void finish();
    [[nodiscard]] Section section() const;

  private:
    struct Row {
        std::uint64_t begin = 0;  // addresses
        std::uint64_t end = 0;
        std::vector<std::uint32_t> places;  // of its cells in the grid; of a gap none
    };

    // What was so until now stays so in all columns before this step's.
    void begin(const Step &step) {
        if (step.point != point_) {
            grid_.end_columns(AddressGrid::kTime, step.point);
            point_ = step.point;
        }
        if (births_ >= next_column_births_) end_births_column(step.time);
    }
    void end_births_column(trace::Time time);
    [[nodiscard]] std::vector<Row> rows() const;
    [[nodiscard]] std::vector<Row> rows(std::size_t cells_a_row, std::uint64_t widest) const;
    [[nodiscard]] HeatChart chart(const std::vector<Row> &rows, AddressGrid::Axis axis) const;
    [[nodiscard]] std::optional<trace::Resident> look(const trace::ResidentBlock &block) const;
    [[nodiscard]] Cells resident(const std::vector<Row> &rows, const std::vector<trace::Time> &column_ends) const;
    [[nodiscard]] std::vector<trace::Time> time_column_ends() const;

    const Scope &scope_;
    AddressGrid grid_;
    std::uint64_t all_births_ = 0;
    std::uint64_t births_ = 0;
    std::uint64_t next_column_births_ = 0;
    std::uint32_t point_ = 0;
    std::vector<trace::Time> births_column_ends_;
};

}  // namespace gr::tool
