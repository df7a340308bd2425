// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: finds the pages of a mapping that the process has written to and has for itself, as the kernel reports them.
// Invariant: takes no memory and no lock of libc's. A page that was never written to, or is still the file's, is not
//    reported. A page on a swap device is reported; one that kernels report as such and that cannot be read is not.
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

    // Whether pages may belong to a file: to find out, the kernel looks at each page.
    enum class Of : std::uint8_t { memory, file };
    // Calls visit(range) for each row of such pages, in the order of their addresses. false: the kernel did not report
    // all.
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
    // The kernel reports a guard as swapped.
    template <class Visit>
    static void visit_row(const PageRow &row, Visit visit) {
        if ((row.categories & page::kIsSwapped) != 0) return for_each_readable(row.range(), visit);
        visit(row.range());
    }
    // For kernels older than PAGEMAP_SCAN: reads an entry for each page, present or not.
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
    // Scans the first piece of the part, and takes that piece off. Returns how many rows were found. Negative: the
    // kernel does not scan.
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
