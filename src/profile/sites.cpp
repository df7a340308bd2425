// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "profile/sites.hpp"

#include "platform/memory.hpp"

namespace gr {

// `changes` is odd while a Change exists. A reader that reads the same even number before and after its own reads has
// read no unfinished change.
class Sites::Change {
  public:
    explicit Change(Sites &sites) : sites_(sites) { step(); }
    ~Change() { step(); }
    Change(const Change &) = delete;
    Change &operator=(const Change &) = delete;

  private:
    // seq_cst: a reader sees no write between two steps before the first step or after the second.
    void step() {
        sites_.changes_.store(sites_.changes_.load(std::memory_order_relaxed) + 1, std::memory_order_seq_cst);
        std::atomic_thread_fence(std::memory_order_seq_cst);
    }

    Sites &sites_;
};

bool Sites::initialise() {
    if (sites_ == nullptr) sites_ = static_cast<Site *>(platform::map(kMostSites * sizeof(Site), 1));
    return sites_ != nullptr;
}

void Sites::reset() {
    const Change change(*this);
    for (std::size_t i = 0; i < totals_.count; ++i) {
        const std::uint64_t stack = sites_[i].stack;
        sites_[i] = Site{};
        sites_[i].stack = stack;
    }
    const std::uint64_t count = totals_.count;
    totals_ = Totals{};
    totals_.count = count;
}

std::uint32_t Sites::at(std::uint32_t ordinal, StackNumber stack) {
    if (ordinal >= kMostSites) return 0;
    const Change change(*this);
    sites_[ordinal].stack = stack;
    if (ordinal >= totals_.count) totals_.count = ordinal + 1;
    return ordinal;
}

void Sites::see_peak(Site &s) const {
    if (s.peak_seen == totals_.peaks) return;
    s.peak = s.live;
    s.peak_seen = totals_.peaks;
}

void Sites::allocated(std::uint32_t site, const Estimate &estimate, std::uint64_t now) {
    const Change change(*this);
    Site &s = sites_[site];
    see_peak(s);
    s.allocated += estimate;
    s.live += estimate;
    totals_.allocated += estimate;
    totals_.live += estimate;
    if (totals_.live.bytes <= totals_.peak.bytes) return;
    totals_.peak = totals_.live;
    totals_.peak_time = now;
    ++totals_.peaks;
}

void Sites::freed(std::uint32_t site, const Estimate &estimate) {
    const Change change(*this);
    Site &s = sites_[site];
    see_peak(s);
    s.live -= estimate;
    totals_.live -= estimate;
}

}  // namespace gr
