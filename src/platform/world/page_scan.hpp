// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: the kernel's PAGEMAP_SCAN: finds the rows of pages in a range that belong to some categories.
// Invariant: one call walks the whole range, or ends where there is no room for another row.
// Must not know: what the pages are wanted for.
#pragma once

#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <cstdint>
#include <span>

#include "platform/syscall.hpp"
#include "platform/world/range.hpp"

namespace gr::platform {

// Newer than the headers of the oldest system that builds this (Linux 6.7): our own names for the kernel's constants.
namespace page {
constexpr std::uint64_t kIsWritten = 2;    // PAGE_IS_WRITTEN
constexpr std::uint64_t kIsOfFile = 4;     // PAGE_IS_FILE
constexpr std::uint64_t kIsPresent = 8;    // PAGE_IS_PRESENT
constexpr std::uint64_t kIsSwapped = 16;   // PAGE_IS_SWAPPED
constexpr std::uint64_t kIsZeroPage = 32;  // PAGE_IS_PFNZERO
}  // namespace page

// A row of pages, as the kernel writes it.
struct PageRow {
    std::uint64_t begin;
    std::uint64_t end;
    std::uint64_t categories;

    Range range() const { return {reinterpret_cast<const char *>(begin), reinterpret_cast<const char *>(end)}; }
};

// struct pm_scan_arg.
struct PageScan {
    static constexpr std::uint64_t kProtectFound = 1;      // PM_SCAN_WP_MATCHING
    static constexpr std::uint64_t kOnlyAsynchronous = 2;  // PM_SCAN_CHECK_WPASYNC

    std::uint64_t size = sizeof(PageScan);
    std::uint64_t flags = 0;
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t walk_end = 0;
    std::uint64_t rows = 0;
    std::uint64_t row_count = 0;
    std::uint64_t most_pages = 0;
    std::uint64_t inverted = 0;
    std::uint64_t all_of = 0;
    std::uint64_t any_of = 0;
    std::uint64_t returned = 0;

    // `pagemap` is the descriptor of a pagemap. Returns how many rows were found in the part of the range that ends
    // before *stop. Negative: refused.
    long run(long pagemap, Range range, std::span<PageRow> into, const char **stop) {
        start = reinterpret_cast<std::uintptr_t>(range.begin);
        end = reinterpret_cast<std::uintptr_t>(range.end);
        rows = reinterpret_cast<std::uintptr_t>(into.data());
        row_count = into.size();
        constexpr unsigned long kScan = _IOWR('f', 16, PageScan);  // PAGEMAP_SCAN
        const long found = system_call(SYS_ioctl, pagemap, std::size_t{kScan}, this);
        // If there was room for all rows, the kernel walked the whole range; walk_end may lie before a part that is not
        // mapped.
        if (found == static_cast<long>(into.size())) {
            *stop = reinterpret_cast<const char *>(walk_end);
        } else if (found >= 0) {
            *stop = range.end;
        }
        return found;
    }
};

}  // namespace gr::platform
