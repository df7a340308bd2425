// SPDX-License-Identifier: Apache-2.0 OR MIT
// What: a process's mappings as /proc/PID/smaps tells them, with what of each is in memory; and the pages of page
//    tables.
// Invariant: the process is neither stopped nor traced. What cannot be read is empty or 0.
// Must not know: what the mappings are for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gr::tool {

inline constexpr std::uint64_t kThreadBytes = 2304;  // of the description that glibc lays behind a thread's stack

struct SmapsEntry {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    bool is_writable = false;
    bool is_executable = false;
    bool is_shared = false;
    std::uint64_t resident = 0;   // bytes
    std::uint64_t anonymous = 0;  // of these, the process's own copies
    std::string name;             // a path, or what the kernel calls it; empty: none
};

[[nodiscard]] std::vector<SmapsEntry> mappings_of(std::uint32_t process);
// The same entries without their resident and anonymous bytes, which the kernel takes long to count.
[[nodiscard]] std::vector<SmapsEntry> addresses_of(std::uint32_t process);
[[nodiscard]] std::uint64_t page_table_bytes_of(std::uint32_t process);

// How much of a range is in memory.
class PresentPages {
  public:
    explicit PresentPages(std::uint32_t process);
    ~PresentPages();
    PresentPages(const PresentPages &) = delete;
    PresentPages &operator=(const PresentPages &) = delete;

    // 0 where that cannot be told, or would take too long.
    [[nodiscard]] std::uint64_t bytes_in(std::uint64_t begin, std::uint64_t end) const;

  private:
    int file_;
};

}  // namespace gr::tool
