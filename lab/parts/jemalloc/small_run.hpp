// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a run of pages that holds small regions of one size behind a header, and how long runs of a size are.
// Invariant: regions end where the run does, so a region's address has the alignment that its size has. A header and
//    what is left before the first region take one part in kWasteParts of a run at most (jemalloc: some 3 %), but for
//    tiny sizes, whose bits alone take more: they get a page.
// Must not know: in which list a run is, and what holds its pages.
#pragma once

#include "parts/contract/shown.hpp"
#include "parts/jemalloc/quantum_bins.hpp"
#include "parts/jemalloc/region_bitmap.hpp"
#include "parts/jemalloc/run_states.hpp"
#include "parts/lists/linked_list.hpp"
#include "parts/memory/misuse.hpp"

namespace gr::lab {

struct SmallRun : ListNode {
    static constexpr std::uint32_t kMark = 0x384adf93;

    std::uint32_t mark = kMark;
    std::uint16_t bin;
    RunState state = RunState::init;
    bool is_current = false;
    RegionBitmap regions;  // last: its words follow

    SmallRun(unsigned of_bin, std::uint32_t count) : bin(static_cast<std::uint16_t>(of_bin)), regions(count) {}
    static constexpr std::size_t bytes_for(std::uint32_t count) {
        return sizeof(SmallRun) - sizeof(RegionBitmap) + RegionBitmap::bytes_for(count);
    }
};

class RunShape {
  public:
    static constexpr std::size_t kWasteParts = 32;

    constexpr RunShape() = default;
    explicit constexpr RunShape(std::size_t size) : size_(static_cast<std::uint32_t>(size)) {
        set(0);
        while (size >= kLeastThatGrows && kWasteParts * first_ > bytes()) set(order_ + 1);
        // Rounded up: exact for offsets within a run.
        reciprocal_ = (std::uint64_t{1} << 32) / size_ + 1;
    }

    constexpr std::size_t size() const { return size_; }
    constexpr unsigned order() const { return order_; }
    constexpr std::size_t bytes() const { return kRunPageBytes << order_; }
    constexpr std::uint32_t regions() const { return regions_; }
    // Bytes before the first region.
    constexpr std::size_t first() const { return first_; }

    void *region(SmallRun *run, std::uint32_t i) const {
        return reinterpret_cast<char *>(run) + first_ + std::size_t{i} * size_;
    }
    void draw(auto &picture, const SmallRun *run) const {
        picture.container(run, show::ContainerKind::run, size_, regions_, bytes());
        for (std::uint32_t i = 0; i < regions_; ++i) {
            const void *const at = region(const_cast<SmallRun *>(run), i);
            picture.block(run, i, at, size_);
            if (run->regions.is_free(i)) picture.inside(at, show::Shown::free);
        }
    }
    // Dies where no region begins.
    std::uint32_t index_of(const SmallRun *run, const void *p) const {
        const auto offset =
            static_cast<std::size_t>(static_cast<const char *>(p) - reinterpret_cast<const char *>(run));
        if (offset < first_) die_of_no_block(p);
        const std::size_t i = ((offset - first_) * reciprocal_) >> 32;
        if (first_ + i * size_ != offset) die_of_no_block(p);
        return static_cast<std::uint32_t>(i);
    }

  private:
    static constexpr std::size_t kLeastThatGrows = std::size_t{1} << QuantumBins::kLeastQuantumShift;

    constexpr void set(unsigned order) {
        order_ = order;
        regions_ = static_cast<std::uint32_t>((bytes() - SmallRun::bytes_for(0)) / size_);
        while (SmallRun::bytes_for(regions_) + std::size_t{regions_} * size_ > bytes()) --regions_;
        first_ = static_cast<std::uint32_t>(bytes() - std::size_t{regions_} * size_);
    }

    std::uint32_t size_ = 0;
    unsigned order_ = 0;
    std::uint32_t regions_ = 0;
    std::uint32_t first_ = 0;
    std::uint64_t reciprocal_ = 0;
};

// No run is longer: one of the largest size holds kWasteParts regions, of which the header takes one.
inline constexpr unsigned kMostRunOrder = 4;
static_assert(RunShape(QuantumBins::largest()).order() == kMostRunOrder, "a run of the largest size is the longest");

}  // namespace gr::lab
