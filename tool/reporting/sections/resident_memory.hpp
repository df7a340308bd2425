// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on what the resident memory is made of: by kind over time, and where most was resident also by name
//    and by the function that mapped it.
// Invariant: the kinds add up to what was resident, the recording's own apart. Of the heap no more is in use than is
//    resident.
// Must not know: where blocks lie.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/step.hpp"

namespace gr::tool {

class ResidentMemory {
  public:
    explicit ResidentMemory(const Scope &scope);

    void born(const Step &step) {
        go_to(step.time);
        live_ += step.block.size;
    }
    void died(const Step &step) {
        go_to(step.time);
        live_ -= step.block.size;
    }
    void vanished(const Step &step) { died(step); }
    void alive(const Step &step) { live_ += step.block.size; }

    [[nodiscard]] Section section(CallSites &sites);

  private:
    // In the order in which they are shown.
    enum Use : std::size_t { in_malloc, held, own, stacks, data, code, files, shared, earlier, not_known, kUses };
    using Uses = std::array<double, kUses>;
    struct Look {
        const trace::MemoryBlock *block = nullptr;
        std::uint64_t live = 0;  // bytes in use
    };

    void go_to(trace::Time time) {
        while (next_ < looks_.size() && looks_[next_].block->summary.time < time.units) looks_[next_++].live = live_;
    }
    [[nodiscard]] static Use use_of(trace::MemoryKind kind);
    [[nodiscard]] const char *name_of(Use use) const;
    [[nodiscard]] std::optional<trace::MemoryLook> read(const Look &look) const;
    [[nodiscard]] static Uses uses_of(const trace::MemoryLook &memory, std::uint64_t live);
    [[nodiscard]] const Look *highest() const;
    [[nodiscard]] SeriesChart over_time() const;
    void add_series(const std::array<std::vector<double>, kUses> &values, SeriesChart *chart) const;
    [[nodiscard]] TableChart by_kind(const trace::MemoryLook &memory, const Uses &uses, CallSites &sites) const;
    [[nodiscard]] std::vector<TableChart::Row> parts_of(const trace::MemoryLook &memory, Use use,
                                                        CallSites &sites) const;
    [[nodiscard]] std::string answer(const Look &look, const trace::MemoryLook &memory, const Uses &uses) const;

    const Scope &scope_;
    std::vector<Look> looks_;
    std::size_t next_ = 0;
    std::uint64_t live_ = 0;
};

}  // namespace gr::tool
