// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: of a mapping the pages that the process has written to and has for itself, as the kernel tells them.
// Invariant: takes no memory and no lock of libc's, touches none of the pages. One that was never written to, or is still
//            the file's, is not told; one that lies on a swap device is.
// Must not know: what lies there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "platform/world/range.hpp"

namespace gr::platform {

class WrittenPages {
  public:
    WrittenPages();
    ~WrittenPages();
    WrittenPages(const WrittenPages &) = delete;
    WrittenPages &operator=(const WrittenPages &) = delete;

    // false: /proc is not there.
    bool opened() const { return fd_ >= 0; }

    // visit(range) for each row of such pages, in the order of their addresses. false: the kernel did not tell all.
    template <class Visit>
    [[nodiscard]] bool for_each(Range whole, Visit visit) {
        const std::size_t page = page_bytes_;
        Range row;
        for (const char *at = whole.begin; at < whole.end;) {
            const std::size_t pages = read(at, whole.end);
            if (pages == 0) return false;
            for (std::size_t i = 0; i < pages; ++i, at += page) {
                if (!is_written(entries_[i])) continue;
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

  private:
    static bool is_written(std::uint64_t entry) {
        constexpr std::uint64_t kPresent = std::uint64_t{1} << 63;
        constexpr std::uint64_t kSwapped = std::uint64_t{1} << 62;
        constexpr std::uint64_t kOfFile = std::uint64_t{1} << 61;
        return (entry & (kPresent | kSwapped)) != 0 && (entry & kOfFile) == 0;
    }
    // How many entries were read; 0: none.
    std::size_t read(const char *from, const char *end);

    long fd_;
    std::size_t page_bytes_;
    std::array<std::uint64_t, 1024> entries_;
};

}  // namespace gr::platform
