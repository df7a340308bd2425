// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: divides a purge among the frees that make it necessary: when the next step is due, and where it goes on.
// Invariant: a purge begins before the free memory has reached what may stay, and ends by the time it has. So a program
//    that goes idle between two steps keeps no more than between two purges.
// Must not know: superblocks; how memory is returned to the OS.
#pragma once

#include "base/config.hpp"
#include "base/units.hpp"
#include "heap/global_free.hpp"

namespace gr {

// Any thread may call is_due, and the answer is a hint. All other functions need the lock of the purge.
class SweepCycle {
  public:
    bool is_due(const GlobalFree &global_free, std::size_t may_stay) const {
        const std::size_t growth_per_chunk = growth_per_chunk_.load(std::memory_order_relaxed);
        if (growth_per_chunk != 0) return global_free.growth() >= growth_per_chunk;
        return global_free.expected() > may_stay - may_stay / kSweepParts;
    }

    bool is_under_way() const { return next_ < end_; }
    // Begins a purge of the chunks that there are now.
    void begin(GlobalFree &global_free, std::size_t may_stay, std::uint32_t chunks) {
        next_ = 0;
        end_ = chunks;
        growth_ = global_free.take_growth(1);
        given_back_ = 0;
        const std::size_t pace = global_free.growth_for(may_stay / kSweepParts) / (chunks == 0 ? 1 : chunks);
        growth_per_chunk_.store(pace < kLeastSweepGrowth ? kLeastSweepGrowth : pace, std::memory_order_relaxed);
    }
    // How many chunks to purge for the bytes that became free since the last step.
    std::uint32_t take_chunks(GlobalFree &global_free) {
        const std::size_t growth_per_chunk = growth_per_chunk_.load(std::memory_order_relaxed);
        const std::size_t growth = global_free.take_growth(growth_per_chunk);
        growth_ += growth;
        const std::size_t chunks = growth / growth_per_chunk;
        return chunks < left() ? static_cast<std::uint32_t>(chunks) : left();
    }
    std::uint32_t left() const { return end_ - next_; }
    ChunkIndex next() { return ChunkIndex(next_++); }
    void gave_back(std::size_t bytes) { given_back_ += bytes; }
    void end(GlobalFree &global_free) {
        global_free.learn(growth_, given_back_);
        growth_per_chunk_.store(0, std::memory_order_relaxed);
    }

  private:
    std::uint32_t next_ = 0;  // chunks below it were purged
    std::uint32_t end_ = 0;
    std::size_t growth_ = 0;      // bytes that became free before and during this purge
    std::size_t given_back_ = 0;  // bytes that it returned to the OS
    // Of the purge that is under way, else 0. Ordered by nothing.
    std::atomic<std::size_t> growth_per_chunk_{0};
};

}  // namespace gr
