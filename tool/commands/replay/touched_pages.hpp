// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: how many pages of a block the program wrote to, as far as the recording shows.
// Invariant: a block's number is that of its birth in the playback. A small block counts as written whole; of a large
//    one as many pages count as were in memory when they were looked at, and all, where nobody looked, but never more than
//    the process had in memory.
// Must not know: what is done with it.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "reading/trace/live_set.hpp"
#include "reading/trace/reader.hpp"

namespace gr::tool {

enum class Touch : std::uint8_t { recorded, all, none };

class TouchedPages {
  public:
    TouchedPages(Touch touch, const trace::Trace &trace);

    // What was in memory at that moment.
    void look(const trace::Resident &resident, const trace::LiveSet &live);
    [[nodiscard]] std::uint32_t of(const trace::Block &block) const;

  private:
    static constexpr std::uint64_t kLeastPages = 16;  // of a large block

    [[nodiscard]] std::uint64_t pages_in(std::uint64_t bytes) const { return (bytes + page_bytes_ - 1) / page_bytes_; }

    Touch touch_;
    std::uint64_t page_bytes_;
    std::uint32_t most_resident_;                            // pages of the process
    std::unordered_map<std::uint64_t, std::uint32_t> most_;  // of the large blocks that were looked at, by number
};

}  // namespace gr::tool
