// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: of a mapping the pages that the process has written to and has for itself, as the kernel tells them.
// Invariant: takes no memory and no lock of libc's. One that was never written to, or is still the file's, is not told;
//    one that lies on a swap device is, and what kernels tell as that and cannot be read is not.
// Must not know: what lies there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "platform/world/page_scan.hpp"
#include "platform/world/readable.hpp"

namespace gr::platform {

class WrittenPages {
  public:
    WrittenPages();
    ~WrittenPages();
    WrittenPages(const WrittenPages &) = delete;
    WrittenPages &operator=(const WrittenPages &) = delete;

    // false: /proc is not there.
    bool opened() const { return fd_ >= 0; }

    // Whether pages may be a file's: to find out takes a look at each.
    enum class Of : std::uint8_t { memory, file };
    // visit(range) for each row of such pages, in the order of their addresses. false: the kernel did not tell all.
    template <class Visit>
    [[nodiscard]] bool for_each(Range whole, Of of, Visit visit) {
        while (scans_ && !whole.is_empty()) {
            const long rows = scan(&whole, of);
            if (rows < 0) break;
            for (long i = 0; i < rows; ++i) visit_row(rows_[static_cast<std::size_t>(i)], visit);
        }
        return whole.is_empty() || for_each_read(whole, visit);
    }

  private:
    // A guard is told as swapped.
    template <class Visit>
    static void visit_row(const PageRow &row, Visit visit) {
        if ((row.categories & page::kIsSwapped) != 0) return for_each_readable(row.range(), visit);
        visit(row.range());
    }
    // What kernels tell that are older than PAGEMAP_SCAN: an entry for each page, there or not.
    template <class Visit>
    bool for_each_read(Range whole, Visit visit) {
        const std::size_t page = page_bytes_;
        Range row;
        for (const char *at = whole.begin; at < whole.end;) {
            const std::size_t pages = read(at, whole.end);
            if (pages == 0) return false;
            for (std::size_t i = 0; i < pages; ++i, at += page) {
                if (!is_written(entries_[i], at)) continue;
                if (row.end != at) {
                    if (!row.is_empty()) visit(row);
                    row.begin = at;
                }
                row.end = at + page;
            }
        }
        if (!row.is_empty()) visit(row);
        return true;
    }
    static bool is_written(std::uint64_t entry, const char *at) {
        constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
        constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
        constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
        if ((entry & kOfFile) != 0) return false;
        return (entry & kPresent) != 0 || ((entry & kSwapped) != 0 && is_readable(at));
    }
    // How many entries were read; 0: none.
    std::size_t read(const char *from, const char *end);
    // How many rows of its first part were found; it begins behind that part then. Negative: the kernel does not scan.
    long scan(Range *part, Of of);

    long fd_;
    std::size_t page_bytes_;
    bool scans_ = true;
    union {
        std::array<PageRow, 340> rows_;
        std::array<std::uint64_t, 1024> entries_;
    };
};

}  // namespace gr::platform
