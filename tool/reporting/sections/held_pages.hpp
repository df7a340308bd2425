// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the section on pages that cannot go back although little of them is in use, and on the blocks that hold them.
// Invariant: a sparse page is one that is in use to less than kSparse; what is free of it is shared out equally among
//    the blocks in it. A look is at one moment.
// Must not know: what the allocator keeps in pages besides.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "reading/trace/chunk.hpp"
#include "reporting/charts/call_sites.hpp"
#include "reporting/document/document.hpp"
#include "reporting/steps/scope.hpp"
#include "reporting/steps/span.hpp"

namespace gr::tool {

class HeldPages {
  public:
    static constexpr double kSparse = 0.25;
    static constexpr std::size_t kTenths = 10;

    // The moment as a reader is told of it: "at the end".
    HeldPages(const Scope &scope, std::string when, std::string when_id)
        : scope_(scope),
          when_(std::move(when)),
          id_(std::move(when_id)),
          page_log_(static_cast<unsigned>(std::bit_width(scope.page_bytes())) - 1),
          by_stack_(scope.has_stacks() ? scope.trace.stacks().size() : 0),
          by_size_(trace::kSizeBuckets) {}

    [[nodiscard]] static std::string question(const std::string &when);
    void look(const trace::LiveSet &live);
    [[nodiscard]] Section section(CallSites &sites) const;

  private:
    struct Page {
        std::uint64_t bytes = 0;  // in use
        std::uint32_t blocks = 0;
    };
    struct Held {
        double bytes = 0;  // that are not in use
        double pages = 0;
        double blocks = 0;
    };
    using Pages = std::unordered_map<std::uint64_t, Page>;

    [[nodiscard]] Pages pages_of(const trace::LiveSet &live);
    void share_out(const trace::Block &block, const Pages &pages);
    [[nodiscard]] double page_bytes() const { return static_cast<double>(std::uint64_t{1} << page_log_); }
    [[nodiscard]] BarsChart by_fill() const;
    [[nodiscard]] TableChart by_size() const;

    const Scope &scope_;
    std::string when_;
    std::string id_;
    unsigned page_log_;
    std::array<std::uint64_t, kTenths> by_fill_{};
    std::vector<Held> by_stack_;
    std::vector<Held> by_size_;
    std::uint64_t pages_ = 0;
    std::uint64_t sparse_pages_ = 0;
    double held_ = 0;    // bytes that are not in use in sparse pages
    double in_use_ = 0;  // bytes in use in them
};

}  // namespace gr::tool
