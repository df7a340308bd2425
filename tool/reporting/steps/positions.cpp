// SPDX-License-Identifier: Apache-2.0 OR MIT

#include "reporting/steps/positions.hpp"

#include <algorithm>
#include <utility>

namespace gr::tool {

std::vector<trace::Time> Positions::moments(const trace::Trace &trace) {
    constexpr std::uint64_t kParts = 64;
    std::vector<const trace::EventBlock *> blocks;
    for (const trace::EventBlock &block : trace.blocks()) blocks.push_back(&block);
    std::ranges::sort(blocks, {}, [](const trace::EventBlock *block) { return block->summary.last_time; });
    const std::uint64_t part = trace.events() / kParts + 1;
    std::vector<trace::Time> moments;
    std::uint64_t events = 0;
    for (const trace::EventBlock *const block : blocks) {
        events += block->summary.events;
        if (events < part) continue;
        events = 0;
        moments.push_back(trace::Time{block->summary.last_time});
    }
    moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
    return moments;
}

void Positions::keep(trace::Position position, std::size_t moments_left) {
    const std::uint64_t one = position.bytes();
    bytes_ += one;
    kept_.push_back(std::move(position));
    while (bytes_ + moments_left / apart_ * one > most_bytes_) {
        std::vector<trace::Position> fewer;
        for (std::size_t i = 1; i < kept_.size(); i += 2) fewer.push_back(std::move(kept_[i]));
        kept_ = std::move(fewer);
        apart_ *= 2;
        bytes_ = 0;
        for (const trace::Position &other : kept_) bytes_ += other.bytes();
    }
}

void Positions::visit(trace::Position position) {
    if (position.bytes() <= most_bytes_ / 2) {
        visited_ = std::move(position);
    } else {
        visited_.reset();
    }
}

const trace::Position *Positions::before(trace::Time time) const {
    const auto behind =
        std::ranges::partition_point(kept_, [&](const trace::Position &position) { return position.time() < time; });
    const trace::Position *const kept = behind == kept_.begin() ? nullptr : &*(behind - 1);
    const bool is_nearer = visited_ && visited_->time() < time && (kept == nullptr || kept->time() < visited_->time());
    return is_nearer ? &*visited_ : kept;
}

}  // namespace gr::tool
