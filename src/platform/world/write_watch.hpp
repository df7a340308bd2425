// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: which pages of a range the process has written to since the last question.
// Invariant: a write before a call to for_each_written that watches on is reported by this call or was reported before;
//    a later write is reported by the next call. A page that was not watched yet, or was returned to the OS since, is
//    reported once a thread has touched it. No thread waits for a thread that writes.
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

    // Watches memory that is private to the process, also parts that become readable later. nullptr: done. Else the
    // text says what the kernel lacks or refuses, and nothing is watched.
    const char *begin(Range whole);
    // For fork's child, which does not inherit the watch; begin() may follow.
    void forget();

    // The descriptor by which the kernel is asked. It is opened for each series of questions, because a program may close
    // descriptors that it did not open.
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

    enum class Then : std::uint8_t { watch_on, leave };
    // Calls visit(range) for each row of written pages in a mapped part, in the order of their addresses. One call at a
    // time. false: the kernel did not report all.
    template <class Visit>
    [[nodiscard]] bool for_each_written(const Pages &pages, Range part, Then then, Visit visit) {
        while (!part.is_empty()) {
            const long rows = look(pages, &part, then);
            if (rows < 0) return false;
            // The rows may lie among the roots, where an address left in them would keep a block.
            for (long i = 0; i < rows; ++i) visit(std::exchange(rows_[static_cast<std::size_t>(i)], {}).range());
        }
        return true;
    }

    template <class Visit>
    [[nodiscard]] bool for_each_written(Range part, Then then, Visit visit) {
        return for_each_written(Pages(), part, then, visit);
    }

    // Stops watching a mapped part until it is watched again: a thread that writes there does not wait for the kernel.
    void leave(Range part);

  private:
    // At most so many bytes at once: while the kernel looks, no thread maps or unmaps memory.
    static constexpr std::size_t kMostBytes = std::size_t{64} << 20;

    // Looks at the first piece of the part, and takes that piece off. Returns how many rows were found. Negative:
    // refused.
    long look(const Pages &pages, Range *part, Then then);
    void close();

    long fd_ = -1;  // as long as it is open, writes are watched for
    std::array<PageRow, 512> rows_{};
};

}  // namespace gr::platform
