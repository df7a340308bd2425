// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which pages of a range the process has written to since it was last asked.
// Invariant: what was written before a call to for_each_written that watches on is told by it or was told before; what
//    is written later is told by the next. A page that was not watched yet, or given back since, is told once somebody
//    has touched it. Nobody waits for anybody who writes.
// Must not know: what lies there, and why it matters.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "platform/world/page_scan.hpp"

namespace gr::platform {

class WriteWatch {
  public:
    constexpr WriteWatch() = default;

    // Memory that is private to the process, also such as becomes readable later. nullptr: done; else what the kernel
    // lacks or refuses, and nothing is watched.
    const char *begin(Range whole);
    // In fork's child, which inherits none of it; begin() may follow.
    void forget();

    enum class Then : std::uint8_t { watch_on, leave };
    // visit(range) for each row of such pages of a part that is mapped, in the order of their addresses. One call at a
    // time. false: the kernel did not tell all.
    template <class Visit>
    [[nodiscard]] bool for_each_written(Range part, Then then, Visit visit) {
        const Pages pages;
        while (!part.is_empty()) {
            const long rows = look(pages, &part, then);
            if (rows < 0) return false;
            // They may lie among the roots, where what they begin with would be kept.
            for (long i = 0; i < rows; ++i) visit(std::exchange(rows_[static_cast<std::size_t>(i)], {}).range());
        }
        return true;
    }

    // Of a part that is mapped nothing is told until it is watched again: who writes there waits for no kernel.
    void leave(Range part);

  private:
    // What the kernel is asked through: opened each time, for a program may close what it did not open.
    class Pages {
      public:
        Pages();
        ~Pages();
        Pages(const Pages &) = delete;
        Pages &operator=(const Pages &) = delete;
        long fd() const { return fd_; }

      private:
        long fd_;
    };

    // At most so many bytes at once: while it looks, nobody maps or unmaps memory.
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

    // How many rows of its first part were found; it begins behind that part then. Negative: refused.
    long look(const Pages &pages, Range *part, Then then);
    void close();

    long fd_ = -1;  // as long as it is open, writes are watched for
    std::array<PageRow, 512> rows_{};
};

}  // namespace gr::platform
